#!/usr/bin/env bash
# plans.sh PROGRAM [renew]: compares the plans that zoo_write_plans (PROGRAM) prints with plans.txt, or writes them there.
set -euo pipefail
folder=$(dirname "$(readlink -f "$0")") now=$(mktemp)
program=$1 stored=$folder/plans.txt
export CONVOKE_RECIPES=$folder/../../apps/recipes
trap 'rm -f "$now"' EXIT
"$program" > "$now"
if [ "${2:-}" = renew ]; then
  cp "$now" "$stored"
elif [ "$(head -n 1 "$now")" != "$(head -n 1 "$stored")" ]; then
  echo "test skipped: plans.txt has the kernels of $(head -n 1 "$stored"), and this is $(head -n 1 "$now")"
  exit 77
elif ! diff -U 0 -F '^[a-z].*: ' "$stored" "$now"; then
  cat << END
These plans have changed (- stored, + now). Each line that begins with a name counts its steps, their order and the bytes.
If that is what your change is for, write them again, and say in the commit what they gain:
  test/zoo/plans.sh $program renew
If only a checksum differs, the order or the place of steps has changed: compare "$program NAME" of both builds.
END
  exit 1
fi
