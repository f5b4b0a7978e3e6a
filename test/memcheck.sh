#!/usr/bin/env bash
# Runs every command once on tiny inputs under valgrind's memcheck, which looks for memory that is used before it is
# written, after it is freed, or outside of its block. By hand, because it takes some minutes: valgrind must be installed.
#   memcheck.sh CONVOKE MAKE_DATASET
# No suppressions are needed, also not for the libraries below. Prints a line for each command.
set -uo pipefail
convoke=$(realpath "$1")
make_dataset=$(realpath "$2")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 1
export OMP_NUM_THREADS=1
"$make_dataset" data.h5 64
"$make_dataset" idx 64
sed 's/^epochs = .*/epochs = 1/' "$here/support/tiny.toml" > recipe.toml
printf 'recipe = "recipe.toml"\nranks = [1]\nrepeats = 2\nat_most = 2\nwarm_up = 0\n' > study.toml
failed=0
# run NAME CODE ARGUMENTS...: `convoke ARGUMENTS` ends with CODE (any: with another code than that of a finding, 99).
run() {
  local name=$1 wanted=$2 code=0
  shift 2
  valgrind -q --error-exitcode=99 --num-callers=30 "$convoke" "$@" > "$name.out" 2> "$name.err" || code=$?
  if [ "$code" = "$wanted" ] || { [ "$wanted" = any ] && [ $code -ne 99 ]; }; then
    echo "ok: $name"
  else
    echo "FAILED: $name ended with $code"
    grep -m 40 '^==\|error' "$name.err"
    failed=1
  fi
}
run prepare 0 prepare idx --output idx.h5
run inspect 0 inspect data.h5 --sample 32 --html inspect.html
run synthesize 0 synthesize shapes --samples 20 --classes 2 --size 16x16 --output shapes
run summary 0 summary recipe.toml --plan
run layers 0 layers
run train 0 train recipe.toml --quiet --output run
run ensemble 0 train recipe.toml --quiet --set train.mode=ensemble --set ensemble.members=2 --output ensemble
run resume 0 train --resume run --quiet --set train.epochs=2
for member in 0 1; do
  run "member-$member" 0 train recipe.toml --quiet --set train.mode=ensemble --set ensemble.members=2 --member $member \
    --output "member-$member"
done
run gather 0 gather member-0 member-1 --output gathered
run distill 0 distill ensemble recipe.toml --quiet --output student
run watch 0 watch run --once
run supervise 137 supervise --ended 137 --restarts 0 --output run
run evaluate 0 evaluate ensemble --json
run predict 0 predict run data.h5
run report 0 report run --output report.html
run compare 0 compare run ensemble
run verify 0 verify run run
run export 0 export run --format onnx --output model.onnx
run import 0 import model.onnx --output imported.h5
run study 0 study study.toml --dry-run
run analyze 0 study analyze "$here/golden/format-1/study/measurements.csv"
run bench 0 bench recipe.toml
run slurm 0 slurm train recipe.toml --nodes 1 --ranks-per-node 1 --cpus-per-rank 1 --dry-run
run doctor any doctor recipe.toml
run info 0 info
run help 0 help train
run completion 0 completion bash
[ $failed -eq 0 ]
