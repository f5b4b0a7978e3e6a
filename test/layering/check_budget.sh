#!/usr/bin/env bash
# check_budget.sh ROOT: compares the size of a source tree with its test/budget.txt.
set -euo pipefail
cd "$1"
sources() { find "$@" \( -name '*.cpp' -o -name '*.hpp' \) -print0; }
lines() { sources "$@" | xargs -0 -r cat | wc -l; }
size_of() {
  case $1 in
    "lines of C++ outside test/") lines apps data-prep include src ;;
    "files of C++ outside test/") sources apps data-prep include src | tr -cd '\0' | wc -c ;;
    "lines of C++ in test/") lines test ;;
    "test programs")  # a test is in the program of its name, or in another
      find test -name CMakeLists.txt -exec grep -hoE '^ *convoke_test(_program)?\([a-z_]+( PROGRAM [a-z_]+)?' {} + |
        sed 's/.*[( ]//' | sort -u | wc -l ;;
    *) echo "error: test/budget.txt has a line for \"$1\"" >&2; exit 2 ;;
  esac
}
wrong=0
while read -r budget what; do
  [ -n "$budget" ] && [ "$budget" != "#" ] || continue
  size=$(size_of "$what")
  echo "$what: $size of $budget"
  if [ "$size" -gt "$budget" ]; then
    echo "  remove what the change makes superfluous, or raise the number in test/budget.txt and say why in the commit"
    wrong=1
  elif [ "$size" -lt $((budget - (budget + 49) / 50)) ]; then
    echo "  lower the number in test/budget.txt, so that it stays a limit"
    wrong=1
  fi
done < test/budget.txt
exit $wrong
