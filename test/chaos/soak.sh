#!/usr/bin/env bash
# Trains on two ranks for a long time, with random restarts, and looks at memory, descriptors and threads of the ranks.
#   soak.sh [MINUTES [SEED]]     (120 minutes)
# The environment: CONVOKE and MAKE_DATASET, the programs. A *life* is the time between two restarts; it ends by SIGKILL of
# a rank, or by SIGTERM or SIGUSR1 of mpirun. Every second of a life is one line of samples.txt:
#   life, second, rank, memory of its own in KiB, descriptors, threads
# Fails if one of these grows within a life or from the first lives to the last, if a restart loses a checkpoint, or if
# files are left in /tmp or /dev/shm.
. "$(dirname "${BASH_SOURCE[0]}")/place.sh"
minutes=${1:-120}
RANDOM=${2:-1}
export OMPI_MCA_odls_base_sigkill_timeout=20  # seconds from SIGTERM to SIGKILL; with one, a busy host has no time for a checkpoint
shared=$(mktemp -d /dev/shm/convoke-soak-XXXXXX)
trap 'rm -rf "$place" "$shared"' EXIT
export OMPI_MCA_btl_vader_backing_directory=$shared  # so that segments of other jobs do not count
mkdir here
export TMPDIR=$place/here
"$MAKE_DATASET" data.h5 200000  # long epochs: a run remembers the results of each, which takes some memory
make_recipe 1000000
echo 'checkpoint_every = "2 s"' >> recipe.toml

ranks() {  # process numbers of the ranks of job $1, which is a session of its own
  cat /proc/[0-9]*/stat 2> /dev/null | awk -v session="$1" '
    { rest = $0; sub(/.*\) /, "", rest); split(rest, field, " ") }
    / \(convoke\) / && field[4] == session && field[1] != "Z" { print $1 }' | sort -n
}
sample() {  # life, second, ranks: one line for each
  local life=$1 second=$2 pid rank=0
  shift 2
  for pid in "$@"; do
    awk -v head="$life $second $rank" -v files="$(find "/proc/$pid/fd" -mindepth 1 2> /dev/null | wc -l)" '
      /^RssAnon:/ { memory = $2 } /^Threads:/ { threads = $2 }
      END { if (memory > 0 && files > 0) print head, memory, files, threads }' "/proc/$pid/status" 2> /dev/null
    rank=$((rank + 1))
  done >> samples.txt
}
newest() { find run/checkpoints -name 'epoch-*.h5' -printf '%f\n' 2> /dev/null | sort -V | tail -n 1; }

declare -A ends=([kill]=0 [term]=0 [usr1]=0)
end=$((SECONDS + 60 * minutes)) life=0 last=
: > samples.txt
while [ $SECONDS -lt $end ]; do
  life=$((life + 1))
  setsid mpirun --oversubscribe --bind-to none -n 2 "$CONVOKE" train recipe.toml --quiet --output run --resume \
    > job.log 2>&1 &
  job=$!
  length=$((40 + RANDOM % 80))  # seconds
  for ((second = 0; second < length && SECONDS < end; second++)); do
    sleep 1
    mapfile -t pids < <(ranks "$job")
    [ ${#pids[@]} -eq 2 ] && sample $life $second "${pids[@]}"
  done
  kind=(kill term usr1)
  kind=${kind[RANDOM % 3]}
  ends[$kind]=$((ends[$kind] + 1))
  case $kind in
    kill) [ ${#pids[@]} -eq 2 ] && kill -KILL "${pids[RANDOM % 2]}" ;;
    term) kill -TERM "$job" ;;
    usr1) kill -USR1 "$job" ;;
  esac
  wait "$job" 2> /dev/null
  code=$?
  # Open MPI's mpirun ends with 1 after SIGTERM, whatever its ranks end with.
  [ $code -ne 0 ] && { [ $code -ne 1 ] || [ "$kind" = term ]; } || bad "life $life ended with $code: $(tail -n 3 job.log)"
  now=$(newest)
  [ -n "$now" ] && [ "$(printf '%s\n' "$last" "$now" | sort -V | tail -n 1)" = "$now" ] || bad "life $life lost checkpoint $last, '$now' is left"
  last=$now
done

# The growth within each life, from its first third (after ten seconds) to its last one, and over all lives.
awk '
  { memory[$1, $3, $2] = $4; files[$1, $3, $2] = $5; threads[$1, $3, $2] = $6; last[$1] = $2 > last[$1] ? $2 : last[$1]
    lives = $1; ++lines
    if ($4 > most[$3]) most[$3] = $4
    if ($5 > most_files) most_files = $5
    if ($6 > most_threads) most_threads = $6 }
  function mean(what, life, rank, from, to,   s, n, sum) {
    for (s = from; s < to; ++s) if ((life, rank, s) in what) { sum += what[life, rank, s]; ++n }
    return n ? sum / n : -1
  }
  END {
    for (life = 1; life <= lives; ++life) for (rank = 0; rank < 2; ++rank) {
      third = int((last[life] - 10) / 3)
      if (third < 5) continue
      a = mean(memory, life, rank, 10, 10 + third); b = mean(memory, life, rank, last[life] - third, last[life])
      if (a < 0 || b < 0) continue
      ++compared
      if (b - a > worst) worst = b - a
      if (b > 1.05 * a + 2048) { print "FAILED: memory of rank " rank " grew from " int(a) " to " int(b) " KiB in life " life; bad = 1 }
      a = mean(files, life, rank, 10, 10 + third); b = mean(files, life, rank, last[life] - third, last[life])
      if (b > a + 2) { print "FAILED: descriptors of rank " rank " grew from " a " to " b " in life " life; bad = 1 }
      a = mean(threads, life, rank, 10, 10 + third); b = mean(threads, life, rank, last[life] - third, last[life])
      if (b > a + 0.5) { print "FAILED: threads of rank " rank " grew from " a " to " b " in life " life; bad = 1 }
      level[life] = mean(memory, life, 0, 10, last[life])
      if (!first) first = level[life]
      newest = level[life]
    }
    if (compared == 0) { print "FAILED: no life was long enough"; bad = 1 }
    if (newest > 1.1 * first + 4096) { print "FAILED: memory grew from " int(first) " to " int(newest) " KiB over the lives"; bad = 1 }
    printf "%d lives, %d samples: at most %.1f MiB of memory, %d descriptors and %d threads in a rank; the most that memory grew within a life: %.2f MiB; first life %.1f MiB, last %.1f MiB\n",
      lives, lines, (most[0] > most[1] ? most[0] : most[1]) / 1024, most_files, most_threads, worst / 1024, first / 1024, newest / 1024
    exit bad
  }' samples.txt || failed=1
echo "ends: ${ends[kill]} SIGKILL of a rank, ${ends[term]} SIGTERM, ${ends[usr1]} SIGUSR1"
[ -z "$(ls -A "$shared")" ] || bad "shared memory is left: $(ls -A "$shared")"
[ -z "$(ls -A here | grep -v '^ompi')" ] || bad "temporary files are left: $(ls -A here)"
[ $failed -eq 0 ]
