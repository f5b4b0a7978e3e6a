#!/usr/bin/env bash
# Compares the speed of two programs, which take turns: both CNNs, ResNet-50 and EfficientNet-B0 on one core, and two ranks that
# exchange gradients through shared memory, as messages, and exactly.
#   apps/bench/against.sh OLD NEW [CASE ...]
#   ROUNDS=5 SECONDS_EACH=1 LIMIT=0.95: the turns, their length, and the ratio NEW / OLD below which a case is a finding
# Prints the median rate of each, the median of the ratios of the turns, and the lowest and highest ratio. A case that looks
# slower is measured again, twice as often. Ends with 1 if a case stays slower, and names it. Use a quiet machine.
set -euo pipefail
shopt -s inherit_errexit
[ $# -ge 2 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2; }
old=$1 new=$2 limit=${LIMIT:-0.95} rounds=${ROUNDS:-5} seconds=${SECONDS_EACH:-1}
shift 2
export CONVOKE_RECIPES=${CONVOKE_RECIPES:-$(dirname "$(readlink -f "$0")")/../recipes} OMP_NUM_THREADS=1
for program in "$old" "$new"; do
  "$program" --version > /dev/null || { echo "error: $program does not start" >&2; exit 2; }
done
two() { printf '%s ' mpirun -n 2 "$1" bench mnist-sync --set run.threads=1 --set train.batch=16 "${@:2}"; }
command_of() {  # CASE PROGRAM
  case $1 in
    93k-cnn) echo "$2 bench mnist-ensemble --set run.threads=1" ;;
    905k-cnn) echo "$2 bench mnist-ddp --set run.threads=1 --set train.batch=256" ;;
    resnet50) echo "$2 bench resnet50 --set run.threads=1 --set train.batch=4" ;;
    efficientnet-b0) echo "$2 bench efficientnet-b0 --set run.threads=1 --set train.batch=8" ;;
    exchange-memory) two "$2" ;;
    exchange-messages) two "$2" --set run.share_memory=false ;;
    exchange-exact) two "$2" --set train.reduction=exact ;;
    *) echo "error: unknown case $1" >&2; exit 2 ;;
  esac
}
rate() {  # CASE PROGRAM
  local command result
  command=$(command_of "$1" "$2")
  # shellcheck disable=SC2086 # a command of words
  result=$($command --rounds 1 --seconds "$seconds" --json | sed -n 's/.*"images_per_second": *\([0-9.e+-]*\).*/\1/p')
  [ -n "$result" ] || { echo "error: no rate from: $command" >&2; exit 2; }
  echo "$result"
}
median() { sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
measure() {  # CASE ROUNDS: sets `ratio` and prints a row
  local turn a b turns
  turns=$(for turn in $(seq "$2"); do
    [ $((turn % 2)) -eq 0 ] || a=$(rate "$1" "$old")
    b=$(rate "$1" "$new")
    [ $((turn % 2)) -eq 1 ] || a=$(rate "$1" "$old")
    echo "$a $b $(awk "BEGIN { print $b / $a }")"
  done)
  ratio=$(awk '{ print $3 }' <<< "$turns" | median)
  printf '%-18s %12.0f %12.0f %9.3f   (%.3f to %.3f, %d turns)\n' "$1" "$(awk '{ print $1 }' <<< "$turns" | median)" \
    "$(awk '{ print $2 }' <<< "$turns" | median)" "$ratio" "$(awk '{ print $3 }' <<< "$turns" | sort -g | head -n 1)" \
    "$(awk '{ print $3 }' <<< "$turns" | sort -g | tail -n 1)" "$2"
}
slower() { awk "BEGIN { exit !($ratio < $limit) }"; }
[ $# -gt 0 ] || set -- 93k-cnn 905k-cnn resnet50 efficientnet-b0 exchange-memory exchange-messages exchange-exact
for case in "$@"; do command_of "$case" "$new" > /dev/null; done
findings=()
printf '%-18s %12s %12s %9s\n' "images/s" old new new/old
for case in "$@"; do
  measure "$case" "$rounds"
  ! slower || measure "$case" $((2 * rounds))
  ! slower || findings+=("$case ($ratio)")
done
[ ${#findings[@]} -eq 0 ] || { echo "slower than $limit of $old: ${findings[*]}"; exit 1; }
