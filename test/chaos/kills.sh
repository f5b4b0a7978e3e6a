#!/usr/bin/env bash
# Kills a rank or mpirun (SIGKILL) at random moments, and starts the job again, until it ends. Then the model has the bits
# of an undisturbed run, no checkpoint was lost, and nothing is left behind.
#   kills.sh [KILLS [SEED]]     (14 kills; the long form: kills.sh 200)
# The environment: CONVOKE and MAKE_DATASET, the programs. Prints the kills of each kind of job.
set -uo pipefail
kills=${1:-14}
RANDOM=${2:-1}
: "${CONVOKE:?}" "${MAKE_DATASET:?}"
export OMPI_MCA_mpi_yield_when_idle=1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 1
mkdir here
export TMPDIR=$place/here
"$MAKE_DATASET" data.h5 320
"$MAKE_DATASET" idx 60000 8 4
cat > recipe.toml <<'TOML'
name = "tiny"
seed = 3
[data]
path = "data.h5"
validation_split = 0.2
[model]
input = [1, 8, 8]
layers = [
  { layer = "conv2d", filters = 8, kernel = 3 },
  { layer = "batch_norm" },
  { layer = "relu" },
  { layer = "flatten" },
  { layer = "dropout", rate = 0.2 },
  { layer = "dense", units = 4, activation = "softmax" },
]
[train]
epochs = 120
batch = 32
lane = 8
reduction = "exact"
optimizer = { name = "adam", learning_rate = 0.01 }
[run]
threads = 1
checkpoint_every = "25 steps"
TOML
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

failed=0
bad() {
  echo "FAILED: $*"
  failed=1
}
shared() { find /dev/shm -maxdepth 1 -user "$(id -un)" | sort; }
mpirun_of() { echo timeout 120 mpirun --oversubscribe --bind-to none -n "$1"; }

# Returns mpirun or one of the ranks of the job, which has a session of its own.
victim() {
  local all
  mapfile -t all < <(ps -o pid=,comm= -s "$1" | awk '$2 == "mpirun" || $2 == "convoke" { print $1 }')
  [ ${#all[@]} -gt 0 ] && echo "${all[RANDOM % ${#all[@]}]}"
}
gone() {  # waits until no process of the job is left
  local i
  for i in $(seq 200); do
    [ -z "$(ps -o pid= -s "$1")" ] && return 0
    sleep 0.05
  done
  ps -s "$1"
  return 1
}
newest() { find "$1" -path '*checkpoints*' -name 'epoch-*.h5' -printf '%f\n' 2> /dev/null | sort | tail -n 1; }

# disturbed NAME TIMES RANKS COMMAND...: starts `convoke COMMAND` (with RANKS ranks; 0: without mpirun, "any": another
# number at each start), kills it TIMES times, and starts it again until it ends.
killed=0 longest=2  # seconds before a kill
disturbed() {
  local name=$1 times=$2 ranks=$3 before after victim job n=0 starts=0 launch
  shift 3
  while :; do
    launch=
    [ "$ranks" = any ] && launch=$(mpirun_of $((RANDOM % 4 + 1)))
    [[ $ranks =~ ^[1-9]$ ]] && launch=$(mpirun_of "$ranks")
    setsid $launch "$CONVOKE" "$@" > "$name.log" 2>&1 &
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
    [[ -n ${before:-} && $after < $before ]] && bad "$name: checkpoint $before is lost, $after is left"
    before=$after
    [ $code -eq 0 ] && break
    starts=$((starts + 1))
    [ $starts -gt $((times + 5)) ] && { bad "$name: does not end: $(tail -n 3 "$name.log")"; break; }
    if [ -d "$name" ] && ! "$CONVOKE" watch "$name" --once > watch.log 2>&1 && ! grep -q 'no run\|not a run' watch.log; then
      bad "$name: the folder is unreadable after kill $n: $(tail -n 2 watch.log)"
    fi
  done
  killed=$((killed + n))
  printf '%-12s %3d kills, %3d starts\n' "$name" "$n" $((starts + 1))
}
# train NAME RANKS OPTIONS...: an undisturbed run, and a disturbed one, which end with the same model.
train() {
  local name=$1 ranks=$2 model
  shift 2
  local launch=
  [[ $ranks =~ ^[1-9]$ ]] && launch=$(mpirun_of "$ranks")
  $launch "$CONVOKE" train recipe.toml --quiet --output "$name-calm" "$@" > calm.log 2>&1 || bad "$name-calm: $(cat calm.log)"
  disturbed "$name" "$share" "$ranks" train recipe.toml --quiet --output "$name" --resume "$@"
  model=$(cd "$name-calm" && echo {model,ensemble}.h5 | tr ' ' '\n' | while read -r each; do [ -e "$each" ] && echo "$each"; done)
  cmp "$name-calm/$model" "$name/$model" || bad "$name: another model"
}

memory=$(shared) share=$(((kills + 6) / 7))
sed -i "s/^epochs = .*/epochs = $((120 * share))/" recipe.toml
train sync 2
train elastic any
train local 2 --set 'train.strategy={ name = "local-sgd", every = 4 }'
train ensemble 2 --set train.mode=ensemble --set ensemble.members=2
train groups 4 --set train.mode=ensemble --set ensemble.members=2
longest=0.5
"$CONVOKE" prepare idx --output calm.h5 > calm.log 2>&1 || bad "prepare-calm: $(cat calm.log)"
disturbed prepare "$share" 2 prepare idx --output prepared.h5
cmp calm.h5 prepared.h5 || bad "prepare: another dataset"
longest=4
disturbed study "$share" 0 study study.toml --output study --resume
columns=$(awk -F, '{ gsub(/"[^"]*"/, ""); print NF }' study/measurements.csv | sort -u | wc -l)
[ "$columns" -eq 1 ] && [ "$(tail -n +2 study/measurements.csv | cut -d, -f1-8 | sort -u | wc -l)" -eq 4 ] &&
  "$CONVOKE" study analyse study/measurements.csv > analysis.log 2>&1 || bad "study: $(cat study/measurements.csv analysis.log)"

[ "$(shared)" = "$memory" ] || echo "left in /dev/shm by MPI: $(comm -13 <(echo "$memory") <(shared) | wc -l) files"
[ -z "$(ls -A here | grep -v '^ompi')" ] || bad "temporary files are left: $(ls -A here)"
left=$(find . -name '*.tmp' -not -path './study/*' | wc -l)
[ "$left" -eq 0 ] || bad "$left temporary files are left: $(find . -name '*.tmp')"
echo "$killed kills"
[ $failed -eq 0 ]
