#!/usr/bin/env bash
# Makes one call of the system or of a library fail in short jobs: the n-th one of each kind (faults.cpp). The job then
# ends with the result of a calm one or with an error, and earlier files are unharmed.
#   faults.sh [full [MOST] | JOB KIND [N [RANK]]]
# Without arguments: some n. `full`: every n, or at most MOST of each job and kind. JOB KIND: every n of these, or one.
# The environment: CONVOKE and MAKE_DATASET, the programs, and FAULTS, the library. Prints the tries of jobs and kinds.
. "$(dirname "${BASH_SOURCE[0]}")/place.sh"
: "${FAULTS:?}"

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
  # Open MPI 4 removes the folder of its jobs when it is empty, which would disturb the job of the other worker.
  mkdir -p "$place/mpi-$worker"
  OMPI_MCA_orte_tmpdir_base=$place/mpi-$worker timeout -k 1 60 \
    $(launcher "$job") env "$@" "$CONVOKE" ${command[$job]} > log 2> errors < /dev/null
  local code=$?
  sed -i 's/,"seconds":[^,}]*//' log  # of evaluate
  return $code
}

# The earlier files: a run of one epoch, and others that jobs replace.
mkdir before && cd before || exit 1
"$MAKE_DATASET" data.h5 96
"$MAKE_DATASET" idx 64 8 4
make_recipe 1
sed -i "s/^threads = .*/threads = 2/" recipe.toml
echo 'stall_timeout = "30 s"' >> recipe.toml
"$CONVOKE" train recipe.toml --output run > ../log 2>&1 || { cat ../log; exit 1; }
cp data.h5 images.h5
echo earlier > labels.csv
"$CONVOKE" report run --output page.html > ../log 2>&1 || { cat ../log; exit 1; }
echo '<!-- earlier -->' >> page.html
cd ..

worker=calm
calm() {  # JOB RANK: its result without a fault, and the number of calls of each kind in this rank
  rm -rf "calm-$1" && cp -r before "calm-$1" && cd "calm-$1" || exit 1
  start "$1" LD_PRELOAD="$FAULTS" CONVOKE_FAULT_COUNT="../counts-$1-$2" CONVOKE_FAULT_RANK="$2" ||
    { cat log errors >&2; exit 1; }
  cd ..
}

# try JOB KIND N RANK: in the folder of this worker. Prints "JOB KIND OUTCOME".
try() {
  local job=$1 kind=$2 n=$3 rank=$4 out=${output[$1]} outcome="" code calm=../calm-$1 file left
  rm -rf "$worker" && cp -r before "$worker" && cd "$worker" || exit 1
  start "$job" LD_PRELOAD="$FAULTS" CONVOKE_FAULT_CALL="$kind" CONVOKE_FAULT_AT="$n" CONVOKE_FAULT_RANK="$rank"
  code=$?
  bad() {
    outcome=FAILED
    {
      echo "FAILED: $job, $kind $n of rank $rank: code $code: $*"
      tail -n "${LINES_SHOWN:-5}" log errors | cut -c1-300
    } > "../failed-$job-$kind-$n-$rank"
  }
  case $code in
    0)
      outcome=equal
      # A page leaves out what cannot be read.
      cmp -s "$out" "$calm/$out" || [[ $job = report && $(tail -n 1 "$out") = '</html>' ]] || bad "another $out" ;;
    1 | 2)
      outcome=error
      grep -q 'error: ' log errors || bad "no message"
      [ "$out" = log ] || cmp -s "$out" "../before/$out" || cmp -s "$out" "$calm/$out" || bad "$out is damaged" ;;
    *) bad "ended by a signal or a timeout" ;;
  esac
  grep -q '^fault: ' errors || outcome="${outcome/equal/none}"
  for file in data.h5 run/checkpoints/epoch-0001.h5 images.h5 labels.csv page.html; do
    [ "$file" = "$out" ] || cmp -s "$file" "../before/$file" ||
      [[ $file = */epoch-* && -e run/checkpoints/epoch-0002.h5 ]] || bad "$file is damaged"
  done
  left=$(find . -name '*.tmp')
  [ -z "$left" ] || bad "$left is left"
  if [ "$out" = run/model.h5 ]; then  # it can be continued, and the log has both epochs
    if [ $code -ne 0 ]; then
      mkdir -p first && mv log errors first/
      start train || bad "cannot be continued: $(cat log errors)"
      cmp -s "$out" "$calm/$out" || bad "another $out after it continued"
      mv first/* .
    fi
    [ "$(grep -c '"event":"epoch"' run/metrics.jsonl)" -eq 2 ] || bad "the log does not have each epoch once"
  fi
  cd ..
  echo "$job $kind $outcome"
}

# The cases, as lines JOB KIND N RANK. Of each kind, MOST calls, spread over all.
cases() {  # JOB RANK MOST KIND...
  local job=$1 rank=$2 most=$3 kind count here i
  shift 3
  [ -e "counts-$job-$rank" ] || calm "$job" "$rank"
  for kind in "$@"; do
    count=$(awk -v kind="$kind" '$1 == kind { print $2 }' "counts-$job-$rank")
    [ "$count" -lt "$most" ] && here=$count || here=$most
    for ((i = 0; i < here; i++)); do
      echo "$job $kind $(((2 * i + 1) * count / (2 * here) + 1)) $rank"
    done
  done
}
files=(open read write fsync rename link mmap)
every=1000000
case ${1:-} in
  "")
    cases train 0 1 "${files[@]}" thread
    cases train 0 3 memory hdf5 onednn
    cases prepare 0 1 write rename memory hdf5
    cases ranks 1 1 mpi ;;
  full)
    for job in train prepare evaluate predict report; do
      cases $job 0 "${2:-$every}" "${files[@]}" thread memory hdf5 onednn
    done
    for rank in 0 1; do
      cases ranks $rank "${2:-$every}" mpi
      cases ranks $rank 8 "${files[@]}" thread memory hdf5 onednn
    done ;;
  *)
    if [ -n "${3:-}" ]; then
      export CONVOKE_FAULT_TRACE=1
      calm "$1" "${4:-0}"
      echo "$1 $2 $3 ${4:-0}"
    else
      cases "$1" 0 $every "$2"
    fi ;;
esac > cases
for w in 0 1; do
  (worker=try-$w
   awk -v w=$w 'NR % 2 == w' cases | while read -r job kind n rank; do
     try "$job" "$kind" "$n" "$rank"
   done > results-$w) &
done
wait
cat results-? | sort | awk '
  { key = $1 " " $2; if (!(key in tried)) keys[++count] = key; ++tried[key]; ++outcome[key, $3]; ++all[$3] }
  END {
    printf "%-20s %6s %12s %6s %6s %7s\n", "", "tried", "same result", "error", "FAILED", "not met"
    for (i = 1; i <= count; ++i) {
      key = keys[i]
      printf "%-20s %6d %12d %6d %6d %7d\n", key, tried[key], outcome[key, "equal"], outcome[key, "error"],
        outcome[key, "FAILED"], outcome[key, "none"]
    }
    printf "%-20s %6d %12d %6d %6d %7d\n", "all", NR, all["equal"], all["error"], all["FAILED"], all["none"]
    exit all["none"] == NR
  }'
fine=$?
cat failed-* 2> /dev/null && fine=1
[ $fine -eq 0 ] && [ "$(wc -l < cases)" -eq "$(cat results-? | wc -l)" ]
