#!/usr/bin/env bash
# Makes one call of the system or of a library fail in short jobs: the n-th one of each kind (faults.cpp). The job then
# ends with the result of a calm one or with an error, and earlier files are unharmed.
#   faults.sh [full | JOB KIND [N]]     (some n; with `full` every n; or those of one job and kind)
# The environment: CONVOKE and MAKE_DATASET, the programs, and FAULTS, the library. Prints the tries of each job and kind.
set -uo pipefail
: "${CONVOKE:?}" "${MAKE_DATASET:?}" "${FAULTS:?}"
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_ess_singleton_isolated=1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 1

# The jobs, and the file that each makes.
declare -A command=(
  [train]="train recipe.toml --output run --resume --set train.epochs=2"
  [ranks]="train recipe.toml --output run --resume --set train.epochs=2"
  [prepare]="prepare idx --overwrite --output images.h5"
  [evaluate]="evaluate run --json"
  [predict]="predict run data.h5 --output labels.csv"
  [report]="report run --output page.html")
declare -A output=([train]=run/model.h5 [ranks]=run/model.h5 [prepare]=images.h5 [evaluate]=log [predict]=labels.csv
  [report]=page.html)
launcher() { [ "$1" != ranks ] || echo mpirun --oversubscribe --bind-to none -n 2; }
start() {  # JOB [VARIABLE=VALUE...]: in this folder; leaves its output in `log`
  local job=$1
  shift
  timeout -k 1 60 $(launcher "$job") env "$@" "$CONVOKE" ${command[$job]} > log 2> errors < /dev/null
}

# The earlier files: a run of one epoch, and others that jobs replace.
mkdir before && cd before || exit 1
"$MAKE_DATASET" data.h5 96
"$MAKE_DATASET" idx 64 8 4
sed "s/^epochs = .*/epochs = 1/; s/^threads = .*/threads = 2/" "$here/../support/tiny.toml" > recipe.toml
echo 'stall_timeout = "30 s"' >> recipe.toml
"$CONVOKE" train recipe.toml --output run > ../log 2>&1 || { cat ../log; exit 1; }
cp data.h5 images.h5
echo earlier | tee labels.csv > page.html
cd ..

calm() {  # JOB: its result without a fault, and how many calls of each kind it makes
  cp -r before "calm-$1" && cd "calm-$1" || exit 1
  start "$1" LD_PRELOAD="$FAULTS" CONVOKE_FAULT_COUNT=counts CONVOKE_FAULT_RANK="$2" || { cat log errors; exit 1; }
  cd ..
}

# try JOB KIND N RANK: in the folder of this worker. Prints "JOB KIND OUTCOME".
try() {
  local job=$1 kind=$2 n=$3 rank=$4 out=${output[$1]} outcome="" code calm=../calm-$1 file
  rm -rf "$worker" && cp -r before "$worker" && cd "$worker" || exit 1
  start "$job" LD_PRELOAD="$FAULTS" CONVOKE_FAULT_CALL="$kind" CONVOKE_FAULT_AT="$n" CONVOKE_FAULT_RANK="$rank"
  code=$?
  bad() {
    outcome=FAILED
    { echo "FAILED: $job, $kind $n of rank $rank: code $code: $*"; tail -n ${LINES_SHOWN:-5} log errors; } > "../failed-$job-$kind-$n-$rank"
  }
  case $code in
    0) cmp -s "$out" "$calm/$out" && outcome=equal || bad "another $out" ;;
    1 | 2)
      outcome=error
      grep -q 'error: ' log errors || bad "no message"
      [ "$out" = log ] || cmp -s "$out" "../before/$out" || cmp -s "$out" "$calm/$out" || bad "$out is damaged" ;;
    *) bad "ended by a signal or a timeout" ;;
  esac
  grep -q '^fault: ' errors || outcome="${outcome/equal/none}"
  for file in data.h5 run/checkpoints/epoch-0001.h5 images.h5 labels.csv page.html; do
    [ "$file" = "$out" ] || cmp -s "$file" "../before/$file" || [[ $file = */epoch-* && -e run/checkpoints/epoch-0002.h5 ]] ||
      bad "$file is damaged"
  done
  [ -z "$(find . -name '*.tmp')" ] || bad "left $(find . -name '*.tmp')"
  if [ "$out" = run/model.h5 ]; then
    mv log first.log; mv errors first.errors
    start train || bad "cannot be continued: $(cat log errors)"
    cmp -s "$out" "$calm/$out" || bad "another $out after it continued"
    mv first.log log; mv first.errors errors
  fi
  cd ..
  echo "$job $kind $outcome"
}

# The cases: JOB KIND N RANK. Of each kind, `most` calls, spread over all; 0: every one.
cases() {  # JOB KIND MOST RANK
  local count step n
  count=$(awk -v kind="$2" '$1 == kind { print $2 }' "calm-$1/counts")
  [ "$count" -gt 0 ] || return 0
  echo "$1 $2 $count calls in a calm job" >&2
  step=1
  [ "$3" -gt 0 ] && step=$((count > $3 ? (count + $3 - 1) / $3 : 1))
  for ((n = 1 + (step - 1) / 2; n <= count; n += step)); do echo "$1 $2 $n $4"; done
}
system=(open read write fsync rename link mmap thread memory)
for job in ${1:+$([ "$1" = full ] && echo "${!command[@]}" || echo "$1")}; do
  calm "$job" 0
  for kind in ${2:-"${system[@]}" hdf5 onednn mpi}; do
    if [ -n "${3:-}" ]; then echo "$job $kind $3 0"; else cases "$job" "$kind" 0 ""; fi
  done
done > cases
[ -n "${3:-}" ] && export CONVOKE_FAULT_TRACE=1
for w in 1 2; do
  (worker=try-$w
   awk -v w=$w 'NR % 2 == w - 1' cases | while read -r job kind n rank; do try "$job" "$kind" "$n" "$rank"; done > results-$w) &
done
wait
cat results-? | sort | uniq -c
for file in failed-*; do [ -e "$file" ] && cat "$file"; done
