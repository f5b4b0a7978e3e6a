#!/usr/bin/env bash
# What happens to the ranks of a job: other numbers of ranks after restarts, a rank that ends with 0, that stands still before
# the training begins, that waits for the others while they wait for it, and that computes wrong bits.
#   ranks.sh [some|all]     (some: the cases of CI)
# The environment: CONVOKE and MAKE_DATASET, the programs, and MISFORTUNE, the library that a rank preloads.
. "$(dirname "${BASH_SOURCE[0]}")/place.sh"
cases=${1:-some}
: "${MISFORTUNE:?}"
mkdir here
export TMPDIR=$place/here
"$MAKE_DATASET" data.h5 320
"$MAKE_DATASET" idx 600 8 4
make_recipe 12
echo 'checkpoint_every = "3 steps"' >> recipe.toml

# job WHAT RANK RANKS COMMAND...: starts `convoke COMMAND` on RANKS ranks; WHAT happens to one RANK (-: nothing). Sets code.
job() {
  local what=$1 rank=$2 ranks=$3
  shift 3
  local -a preload=()
  [ "$what" = - ] || preload=(env "LD_PRELOAD=$MISFORTUNE" "CONVOKE_MISFORTUNE=$what" "CONVOKE_MISFORTUNE_RANK=$rank")
  setsid timeout --kill-after=5 60 mpirun --oversubscribe --bind-to none -n "$ranks" "${preload[@]}" "$CONVOKE" "$@" > job.log 2>&1 &
  local session=$! i
  wait $session
  code=$?
  for i in $(seq 100); do  # a process that has ended may stay a while as a zombie
    [ -z "$(left_of $session)" ] && return
    sleep 0.05
  done
  bad "$what: processes are left: $(left_of $session)"
}
left_of() {
  cat /proc/[0-9]*/stat 2> /dev/null | awk -v session="$1" '
    { rest = $0; sub(/.*\) /, "", rest); split(rest, field, " "); if (field[4] == session && field[1] != "Z") print $1 }'
}
newest() { find "$1/checkpoints" -name 'epoch-*.h5' -printf '%f\n' 2> /dev/null | sort | tail -n 1; }
# ends WHAT CODE TEXT...: the job before ended with this code, and its error has these texts. Open MPI 5's mpirun returns 1
# for every job that a rank ends.
open_mpi_5=$(mpirun --version | grep 'Open MPI) 5' || true)
ends() {
  local what=$1 expected=$2 text
  shift 2
  [ -z "$open_mpi_5" ] || expected=1
  [ "$code" -eq "$expected" ] || bad "$what: exit code $code, not $expected: $(tail -n 5 job.log)"
  for text in "$@"; do grep -q -- "$text" job.log || bad "$what: no '$text' in: $(cat job.log)"; done
  [ "$(grep -c 'error: ' job.log)" -eq 1 ] || bad "$what: not one error: $(cat job.log)"
  echo "$what: code $code: $(grep -o 'error: .*' job.log | cut -c 8-120)"
}

# 1. Killed on four, on two and on three ranks, in the middle of epochs; one rank finishes.
job - 0 1 train recipe.toml --quiet --output calm
[ "$code" -eq 0 ] || bad "calm: $(cat job.log)"
before='' path=''
opens=15  # of checkpoints before the end of the rank; each start looks at all that are there
for ranks in 4 2 3; do
  job "kill $opens /checkpoints/" 0 $ranks train recipe.toml --quiet --output elastic --resume
  [ "$code" -eq 137 ] || bad "$ranks ranks: exit code $code, not 137: $(tail -n 3 job.log)"
  now=$(newest elastic)
  [[ -n $now && $now > $before ]] || bad "$ranks ranks: checkpoint '$now' after '$before'"
  path="$path $ranks ranks until $now,"
  before=$now opens=$((opens + 4))
done
[ -e elastic/model.h5 ] && bad "the run was finished before the last start"
job - 0 1 train recipe.toml --quiet --output elastic --resume
[ "$code" -eq 0 ] || bad "the last start: $(cat job.log)"
cmp calm/model.h5 elastic/model.h5 || bad "another model after 4, 2, 3 and 1 ranks"
echo "$path 1 rank until the end: the bits of one rank without a restart"

# 2. A rank ends with 0 in the middle. Open MPI 5 notices that; other launchers do not, but the heartbeats do.
forever=(train recipe.toml --quiet --set train.epochs=1000000 --set run.checkpoint_every=0)
job 'exit 12 .heartbeats/rank-1' 1 2 "${forever[@]}" --output ended --set run.stall_timeout=1
if [ -n "$open_mpi_5" ]; then
  [ "$code" -eq 1 ] && grep -q 'exited without calling "finalize"' job.log || bad "a rank ends with 0: $(cat job.log)"
else
  expected=87
  mpirun --version | grep -q 'Open MPI' && expected=1  # its mpirun counts an end without MPI_Finalize as an error of its own
  ends "a rank ends with 0" $expected "rank 1 has given no sign of life for" "convoke train --resume RUN"
  "$CONVOKE" supervise --ended $code --output ended --restarts 1 --backoff 0.1s > again.log || bad "supervise: $(cat again.log)"
fi

# 3. All ranks wait for each other.
job 'wait 200' 1 2 "${forever[@]}" --output waiting --set run.stall_timeout=1
ends "all wait for each other" 87 "all ranks have waited for each other for" "is here:" "convoke train --resume RUN"

# 4. A rank stands still before the training begins, while a dataset is made, and while runs are gathered.
silent="rank 1 has given no sign of life for"
job 'stop 1 .work/samples' 1 2 prepare idx --output made.h5 --stall-timeout 1s
ends "prepare" 87 "$silent" "start it again, and it continues"
rm -f made.h5  # Open MPI 5 lets the stopped rank go on before it ends it, which may be long enough
job - 0 2 prepare idx --output made.h5
[ "$code" -eq 0 ] || bad "prepare again: $(cat job.log)"
[ -e .made.h5.heartbeats ] && bad "the heartbeats of prepare are left"
if [ "$cases" = all ]; then
  job 'stop 1 data.h5' 1 2 train recipe.toml --quiet --output loading --set run.stall_timeout=1
  ends "loading" 87 "$silent" "start the job again"
  [ -e loading ] && bad "a job that did not load its samples has made its folder"
  ensemble=(recipe.toml --quiet --set train.mode=ensemble --set ensemble.members=2 --set train.epochs=1 --set run.stall_timeout=1)
  for member in 0 1; do
    job - 0 1 train "${ensemble[@]}" --member $member --output m$member
    [ "$code" -eq 0 ] || bad "member $member: $(cat job.log)"
  done
  job 'stop 1 data.h5' 1 2 gather m0 m1 --output both
  ends "gather" 87 "$silent" "gather again"
  job - 0 2 gather m0 m1 --output both
  [ "$code" -eq 0 ] || bad "gather again: $(cat job.log)"
  [ -e .both.heartbeats ] && bad "the heartbeats of gather are left"
fi

# 5. A rank computes wrong bits.
job 'flip 2000' 1 3 "${forever[@]}" --output wrong --set run.verify_every=2
ends "wrong bits" 88 "silent data corruption: in step" "show that rank 1 (host $(uname -n)) is wrong" "leave it out"
[ $failed -eq 0 ]
