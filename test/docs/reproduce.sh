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
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
# Open MPI 4 gives all programs without mpirun one folder, in which two that begin at once disturb each other.
OMPI_MCA_orte_tmpdir_base=$(mktemp -d)
export OMPI_MCA_orte_tmpdir_base
trap 'rm -rf "$OMPI_MCA_orte_tmpdir_base"' EXIT
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
"$root/apps/recipes/$1/reproduce" --small --output work
"$root/apps/recipes/$1/reproduce" --small --output work > again.log
cat again.log
made=$(ls work/done | wc -l)
[ "$made" -gt 0 ] && [ "$(grep -c 'done before' again.log)" = "$made" ]
