#!/usr/bin/env bash
# Prints the twenty tests that took longest when ctest last ran in a build folder: seconds, with what they waited for.
#   test/expensive.sh [build/dev]     (after ctest --preset dev -j1 on a quiet machine they wait only for themselves)
set -euo pipefail
awk '/^[0-9]+\/[0-9]+ Test: / { sub(/^[^:]*: /, ""); name = $0 } /^Test time =/ { printf "%8.2f  %s\n", $4, name }' \
  "${1:-build/dev}/Testing/Temporary/LastTest.log" | sort -rn | sed -n 1,20p
