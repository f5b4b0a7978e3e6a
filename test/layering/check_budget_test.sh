#!/usr/bin/env bash
# check_budget_test.sh CHECK FOLDER: the check accepts a tree of its size, and refuses one that is larger, or much smaller.
set -euo pipefail
check=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder"/{apps,data-prep,include,src,test/nn}
printf 'a\nb\nc\n' > "$folder/src/one.cpp"
printf 'a\n' > "$folder/include/one.hpp"
printf 'convoke_test_program(mpi)\nconvoke_test(nn LINKS convoke_nn)\n  convoke_mpi_test(nn_mpi)\nconvoke_test(optim PROGRAM nn)\n# convoke_test(none)\n' \
  > "$folder/test/nn/CMakeLists.txt"
expect() {  # CODE TEXT BUDGET
  local code=0 said
  printf '# a remark\n%b' "$3" > "$folder/test/budget.txt"
  said=$(bash "$check" "$folder" 2>&1) || code=$?
  [ "$code" = "$1" ] && grep -qF "$2" <<< "$said" || { echo "expected $1 and \"$2\", got $code: $said"; exit 1; }
}
all='files of C++ outside test/'
expect 0 "$all: 2 of 2" "4 lines of C++ outside test/\n2 $all\n0 lines of C++ in test/\n2 test programs\n"
expect 1 "lines of C++ outside test/: 4 of 3" "3 lines of C++ outside test/\n"
expect 1 "raise the number" "1 $all\n"
expect 1 "lower the number" "4 $all\n"
expect 0 "test programs: 2 of 3" "3 test programs\n"
expect 2 "has a line for \"apples\"" "3 apples\n"
