#!/usr/bin/env bash
# Runs a recipe's script `reproduce` with the smallest runs, twice: the second call finds every piece done.
#   reproduce.sh NAME FOLDER      (CONVOKE_BINARY names the program; data.sh has made MNIST in FOLDER)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$2/reproduce.$1
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
export CONVOKE=$CONVOKE_BINARY CONVOKE_DATA=$2/made CONVOKE_CACHE=$folder/cache CONVOKE_RECIPES=$root/apps/recipes
. "$root/test/docs/mpi.sh"
"$root/apps/recipes/$1/reproduce" --small --output work
"$root/apps/recipes/$1/reproduce" --small --output work > again.log
cat again.log
made=$(ls work/done | wc -l)
[ "$made" -gt 0 ] && [ "$(grep -c 'done before' again.log)" = "$made" ]
