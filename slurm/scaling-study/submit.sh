#!/bin/bash
# mnist-sync: submits its jobs, each behind those that it needs. Start it where the recipe is found.
# Written by: convoke slurm study mnist-sync --set train.batch=512 --nodes 3 --ranks-per-node 2 --cpus-per-rank 4 --time 1:00:00
set -euo pipefail
here=$(dirname "$0")
study=runs/mnist-sync-$(date +%Y%m%d-%H%M%S)

nodes_1=$(sbatch --parsable --nodes=1 "$here/study.sh" "$study/1-nodes")
echo "study.sh: job ${nodes_1%%;*} (--nodes=1)"

nodes_2=$(sbatch --parsable --nodes=2 "$here/study.sh" "$study/2-nodes")
echo "study.sh: job ${nodes_2%%;*} (--nodes=2)"

nodes_3=$(sbatch --parsable --nodes=3 "$here/study.sh" "$study/3-nodes")
echo "study.sh: job ${nodes_3%%;*} (--nodes=3)"

compare=$(sbatch --parsable --dependency="afterok:${nodes_1%%;*}:${nodes_2%%;*}:${nodes_3%%;*}" --kill-on-invalid-dep=yes "$here/compare.sh" "$study/1-nodes" "$study/2-nodes" "$study/3-nodes")
echo "compare.sh: job ${compare%%;*}"

echo "there will be: $study"
