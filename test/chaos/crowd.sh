#!/usr/bin/env bash
# Trains one recipe on more and more ranks, far more than there are cores, and prints what they need: seconds until the first
# step and of all steps, memory, open files and /dev/shm. All models must have the bits of one rank.
#   crowd.sh [RANKS...]       (without arguments: the number of CI)
# The environment: CONVOKE and MAKE_DATASET, the programs; RECIPE, a recipe to train instead of small pictures.
. "$(dirname "${BASH_SOURCE[0]}")/place.sh"
[ $# -gt 0 ] || set -- 16
"$MAKE_DATASET" data.h5 2560
sed 's/^epochs = .*/epochs = 2/; s/^batch = .*/batch = 512/' "$here/../support/tiny.toml" > recipe.toml
recipe=${RECIPE:-recipe.toml}
value() { sed -n "/\"$2\"/,\$p" "$1/summary.json" | grep -m 1 -o "\"$3\": [0-9.e+-]*" | cut -d ' ' -f 2; }  # RUN AFTER KEY
# Until `stop` exists: the largest memory (MiB) and number of open files of a rank, and MiB in /dev/shm.
most() {
  local memory=0 files=0 shm=0 pid now
  while [ ! -e stop ]; do
    for pid in $(pgrep -P "$(pgrep -d , -P $$ mpirun)"); do
      now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status" 2> /dev/null)
      [ "${now:-0}" -le $memory ] || memory=$now
      now=$(ls "/proc/$pid/fd" 2> /dev/null | wc -l)
      [ "$now" -le $files ] || files=$now
    done
    now=$(df --output=used /dev/shm | tail -n 1)
    [ "$now" -le $shm ] || shm=$now
    sleep 0.3
  done 2> /dev/null
  echo $((memory / 1024)) $files $((shm / 1024))
}
printf '%6s %13s %9s %7s %11s %11s %13s\n' ranks "first step s" "steps s" "all s" "MiB a rank" "open files" "/dev/shm MiB"
for ranks in 1 "$@"; do
  rm -f stop
  most > needs &
  watcher=$!
  begin=$(date +%s%N)
  mpirun --oversubscribe --bind-to none -n "$ranks" "$CONVOKE" train "$recipe" --quiet --output "run-$ranks" > log 2>&1 < /dev/null ||
    bad "$ranks ranks: $(tail -n 5 log)"
  end=$(date +%s%N)
  touch stop && wait $watcher
  read -r memory files shm < needs
  printf '%6d %13.2f %9.2f %7.1f %11d %11d %13d\n' "$ranks" "$(value "run-$ranks" format seconds_to_first_step)" \
    "$(value "run-$ranks" steps max)" "$(awk "BEGIN { print ($end - $begin) / 1e9 }")" "$memory" "$files" "$shm"
  cmp run-1/model.h5 "run-$ranks/model.h5" || bad "$ranks ranks: another model"
done
[ $failed -eq 0 ]
