#!/usr/bin/env bash
# Starts two jobs that write to the same place, again and again. One wins each time, the other ends with a clear error, and
# the result is the winner's and complete.
#   races.sh [TIMES [SEED]]     (20 races; the long form: races.sh 1000)
# The environment: CONVOKE and MAKE_DATASET, the programs. Prints the races of each kind. The second job starts at a random
# moment: together with the first one, or anywhere until a little after its end.
. "$(dirname "${BASH_SOURCE[0]}")/place.sh"
times=${1:-20}
RANDOM=${2:-1}
"$MAKE_DATASET" data.h5 64
"$MAKE_DATASET" pictures-1 600 8 4
"$MAKE_DATASET" pictures-2 500 8 4
make_recipe 3

# The command of job $2 of a race of kind $1, and its result when nothing disturbs it.
command_of() {
  case $1 in
    train) echo "train recipe.toml --quiet --set seed=$2 --output $3" ;;
    resume) echo "train --resume $3 --quiet" ;;
    prepare) echo "prepare pictures-$2 --output $3.h5" ;;
    overwrite) echo "prepare pictures-$2 --output $3.h5 --overwrite" ;;
  esac
}
result_of() {
  case $1 in
    train) echo "calm-$2/model.h5" ;;
    resume) echo "calm-1/model.h5" ;;
    *) echo "calm-$2.h5" ;;
  esac
}
for job in 1 2; do
  "$CONVOKE" $(command_of train $job calm-$job) > calm.log 2>&1 && "$CONVOKE" $(command_of prepare $job calm-$job) > calm.log 2>&1 ||
    bad "calm: $(cat calm.log)"
done
# A run that was killed: its lock is left, and belongs to a process that has ended.
cp -r calm-1 killed
rm killed/{summary,evaluation,status}.json killed/{model.h5,report.html} killed/checkpoints/epoch-000[23]*
sh -c 'echo "{\"host\":\"$(uname -n)\",\"pid\":$$,\"started\":\"1\",\"pid_space\":\"$(readlink /proc/self/ns/pid)\",\"job\":\"\",\"restarts\":0,\"key\":1}"' > killed/lock

# moment: seconds until the second job starts. Half of them together, the others anywhere in the life of the first one.
began=$(date +%s%N)
"$CONVOKE" $(command_of train 1 timed) > calm.log 2>&1
life=$((($(date +%s%N) - began) / 1000000))  # milliseconds
moment() {
  if ((RANDOM % 2)); then echo "0.00$((RANDOM % 10))"; else awk "BEGIN { print $RANDOM / 32768 * 1.2 * $life / 1000 }"; fi
}
declare -A races=([train]=0 [resume]=0 [prepare]=0 [overwrite]=0) both=([resume]=0 [overwrite]=0)
race() {
  local kind=$1 name=$2 job winners=() code file found
  [ "$kind" = resume ] && cp -r killed "$name"
  "$CONVOKE" $(command_of "$kind" 1 "$name") > 1.log 2>&1 &
  local first=$!
  sleep "$(moment)"
  "$CONVOKE" $(command_of "$kind" 2 "$name") > 2.log 2>&1 &
  local second=$!
  for job in 1 2; do
    wait "$([ $job = 1 ] && echo $first || echo $second)"
    code=$?
    if [ $code -eq 0 ]; then
      winners+=("$job")
    elif [ $code -ne 1 ] || [ "$(grep -c 'error: ' $job.log)" -ne 1 ] || ! grep -q '^  hint: ' $job.log ||
      ! grep -Eq "error: $name[^ ]*: (is in use|is not empty|exists already)" $job.log; then
      bad "$kind, job $job: exit code $code: $(tail -n 3 $job.log)"
    fi
  done
  # A run may be resumed, and a dataset replaced, when the first job has ended.
  case ${#winners[@]} in
    0) bad "$kind: both lost: $(cat 1.log 2.log)" ;;
    2) if [ "${both[$kind]+may}" ]; then both[$kind]=$((both[$kind] + 1)); else bad "$kind: both won"; fi ;;
  esac
  file=$name.h5
  [ -d "$name" ] && file=$name/model.h5
  found=none
  for job in "${winners[@]}"; do cmp -s "$file" "$(result_of "$kind" "$job")" && found=$job; done
  [ $found = none ] && bad "$kind: the result is not that of job ${winners[*]}: $(tail -n 2 1.log 2.log)"
  if [ -d "$name" ]; then
    [ "$(grep -c '"validation_accuracy"' "$name/metrics.jsonl")" -eq "$(grep -c '"validation_accuracy"' calm-1/metrics.jsonl)" ] ||
      bad "$kind: the lines of two jobs are in metrics.jsonl: $(cat "$name/metrics.jsonl")"
    [ "$(ls -A "$name")" = "$(ls -A calm-1)" ] || bad "$kind: other files: $(ls -A "$name")"
  else
    [ "$(ls -d "$name"*)" = "$file" ] || bad "$kind: files are left: $(ls -d "$name"*)"
  fi
  races[$kind]=$((races[$kind] + 1))
  rm -rf "$name"*
}
kinds=(train resume prepare overwrite)
for ((n = 0; n < times; n++)); do race "${kinds[n % 4]}" "race-$n"; done
for kind in "${kinds[@]}"; do
  printf '%-10s %4d races%s\n' "$kind" "${races[$kind]}" \
    "$([ "${both[$kind]:-0}" -gt 0 ] && echo ", in ${both[$kind]} of them the second job began after the first one")"
done
[ $failed -eq 0 ]
