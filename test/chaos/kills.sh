#!/usr/bin/env bash
# Kills a rank or mpirun (SIGKILL) at random moments, and starts the job again, until it ends. Then the model has the bits
# of an undisturbed run, no checkpoint was lost, and nothing is left behind.
#   kills.sh [KILLS [SEED]]     (14 kills; the long form: kills.sh 200)
# The environment: CONVOKE and MAKE_DATASET, the programs. Prints the kills of each kind of job.
. "$(dirname "${BASH_SOURCE[0]}")/place.sh"
kills=${1:-14}
RANDOM=${2:-1}
share=$(((kills + 6) / 7))  # of each kind of job
mkdir here
export TMPDIR=$place/here
"$MAKE_DATASET" data.h5 320
"$MAKE_DATASET" idx 60000 8 4
make_recipe $((60 + 60 * share))
echo 'checkpoint_every = "25 steps"' >> recipe.toml
cat > study.toml <<'TOML'
name = "tiny"
recipe = "recipe.toml"
ranks = [1, 2]
repeats = 2
at_most = 2
warm_up = 0
[set]
train.epochs = 2
TOML

shared() { find /dev/shm -maxdepth 1 -user "$(id -un)" | sort; }
# If a rank is killed while it connects to mpirun, that of Open MPI 4.1 may lock itself, and then ignores SIGTERM.
mpirun_of() { echo timeout --kill-after=5 120 mpirun --oversubscribe --bind-to none -n "$1"; }

# Lists the processes of a job, which has a session of its own: number and name. (A bare Debian has no ps.)
members() {
  cat /proc/[0-9]*/stat 2> /dev/null | awk -v session="$1" '{
    name = rest = $0
    sub(/^[^(]*\(/, "", name); sub(/\).*/, "", name); sub(/.*\) /, "", rest)
    split(rest, field, " ")
    if (field[4] == session && field[1] != "Z") print $1, name
  }'
}
# Returns mpirun or one of the ranks.
victim() {
  local all
  mapfile -t all < <(members "$1" | awk '$2 ~ /^(mpirun|mpiexec|convoke)$/ { print $1 }')
  [ ${#all[@]} -gt 0 ] && echo "${all[RANDOM % ${#all[@]}]}"
}
gone() {  # waits until no process of the job is left
  local i
  for i in $(seq 200); do
    [ -z "$(members "$1")" ] && return 0
    sleep 0.05
  done
  members "$1"
  return 1
}
newest() { find "$1" -path '*checkpoints*' -name 'epoch-*.h5' -printf '%f\n' 2> /dev/null | sort -V | tail -n 1; }

# disturbed NAME TIMES RANKS COMMAND...: starts `convoke COMMAND` (with RANKS ranks; 0: without mpirun, "any": another
# number at each start), kills it TIMES times, and starts it again until it ends.
killed=0 longest=1  # seconds before a kill
disturbed() {
  local name=$1 times=$2 ranks=$3 before after victim job n=0 starts=0 launch resume
  shift 3
  while :; do
    launch= resume=
    [ ! -e "$name/study.toml" ] || resume=--resume
    [ "$ranks" = any ] && launch=$(mpirun_of $((RANDOM % 4 + 1)))
    [[ $ranks =~ ^[1-9]$ ]] && launch=$(mpirun_of "$ranks")
    setsid $launch "$CONVOKE" "$@" $resume > "$name.log" 2>&1 &
    job=$!
    if [ "$n" -lt "$times" ]; then
      sleep "$(awk "BEGIN { print $longest * $RANDOM / 32768 }")"
      victim=$(victim "$job")
      if [ -n "$victim" ] && kill -KILL "$victim" 2> /dev/null; then n=$((n + 1)); fi
    fi
    wait "$job" 2> /dev/null
    local code=$?
    gone "$job" || bad "$name: a process is left after kill $n"
    after=$(newest "$name")
    # A study removes the checkpoints of runs that have ended.
    [ "$ranks" = 0 ] || [ "$(printf '%s\n' "${before:-}" "$after" | sort -V | tail -n 1)" = "$after" ] ||
      bad "$name: checkpoint $before is lost, $after is left"
    before=$after
    [ $code -eq 0 ] && break
    starts=$((starts + 1))
    [ $starts -gt $((times + 5)) ] && { bad "$name: does not end: $(tail -n 3 "$name.log")"; break; }
    if [ -d "$name" ] && ! "$CONVOKE" watch "$name" --once > watch.log 2>&1 && ! grep -q 'no run\|not a run' watch.log; then
      bad "$name: the folder is unreadable after kill $n: $(tail -n 2 watch.log)"
    fi
  done
  landed=$n killed=$((killed + n))
  printf '%-12s %3d kills, %3d starts\n' "$name" "$n" $((starts + 1))
}
# rounds NAME RANKS CHECK COMMAND...: such jobs, until enough kills have hit one. Each has the name NAME-1, NAME-2, ...,
# which replaces ROUND in the command, and CHECK gets.
rounds() {
  local name=$1 ranks=$2 check=$3 left=$share round=0
  shift 3
  while [ "$left" -gt 0 ] && [ $round -lt $((share + 3)) ]; do
    round=$((round + 1))
    disturbed "$name-$round" "$left" "$ranks" "${@//ROUND/$name-$round}"
    $check "$name-$round" || bad "$name-$round: another result"
    left=$((left - landed))
  done
}
same_model() {  # of the undisturbed run `calm`
  local file
  for file in calm-"$calm"/{model,ensemble}.h5; do
    [ ! -e "$file" ] || cmp "$file" "$1/$(basename "$file")" || return 1
  done
}
# calm NAME RANKS OPTIONS...: an undisturbed run, without mpirun if RANKS is 0.
calm() {
  local ranks=$2 launch=
  calm=$1
  shift 2
  [ "$ranks" = 0 ] || launch=$(mpirun_of "$ranks")
  $launch "$CONVOKE" train recipe.toml --quiet --output "calm-$calm" "$@" > calm.log 2>&1 || bad "calm-$calm: $(cat calm.log)"
}
# train NAME RANKS OPTIONS...: disturbed runs, which end with the model of the undisturbed one.
train() {
  local name=$1 ranks=$2
  shift 2
  rounds "$name" "$ranks" same_model train recipe.toml --quiet --output ROUND --resume "$@"
}

memory=$(shared)
calm sync 0  # exact: the bits of any number of ranks
train sync 2
train elastic any
local_sgd='train.strategy={ name = "local-sgd", every = 4 }'
calm local 2 --set "$local_sgd"
train local 2 --set "$local_sgd"
votes=(--set train.mode=ensemble --set ensemble.members=2)
calm votes 0 "${votes[@]}"
train ensemble 2 "${votes[@]}"
train groups 4 "${votes[@]}"
longest=0.5
"$CONVOKE" prepare idx --output calm.h5 > calm.log 2>&1 || bad "prepare-calm: $(cat calm.log)"
same_dataset() { cmp calm.h5 "$1.h5"; }
rounds prepare 2 same_dataset prepare idx --overwrite --output ROUND.h5
longest=4
whole_table() {
  [ "$(awk -F, '{ gsub(/"[^"]*"/, ""); print NF }' "$1/measurements.csv" | sort -u | wc -l)" -eq 1 ] &&
    [ "$(tail -n +2 "$1/measurements.csv" | cut -d, -f1-8 | sort -u | wc -l)" -eq 4 ] &&
    "$CONVOKE" study analyze "$1/measurements.csv" > analysis.log 2>&1 || { cat "$1/measurements.csv" analysis.log; return 1; }
}
rounds study 0 whole_table study study.toml --output ROUND

[ "$(shared)" = "$memory" ] || echo "left in /dev/shm by MPI: $(comm -13 <(echo "$memory") <(shared) | wc -l) files"
[ -z "$(ls -A here | grep -v '^ompi')" ] || bad "temporary files are left: $(ls -A here)"
left=$(find . -name '*.tmp' -not -path './study-*' | wc -l)
[ "$left" -eq 0 ] || bad "$left temporary files are left: $(find . -name '*.tmp')"
echo "$killed kills"
[ $failed -eq 0 ]
