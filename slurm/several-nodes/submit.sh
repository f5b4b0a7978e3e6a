#!/bin/bash
# mnist-sync: submits its jobs, each behind those that it needs. Start it where the recipe is found.
# Written by: convoke slurm train mnist-sync --set train.batch=1024 --nodes 3 --ranks-per-node 2 --cpus-per-rank 8 --time 4:00:00
set -euo pipefail
here=$(dirname "$0")

train=$(sbatch --parsable "$here/train.sh")
echo "train.sh: job ${train%%;*}"
run=runs/mnist-sync-${train%%;*}

echo "there will be: $run"
