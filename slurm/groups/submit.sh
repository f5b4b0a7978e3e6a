#!/bin/bash
# mnist-ensemble: submits its jobs in their order. Start it in the folder from which the recipe is found.
# Written by: convoke slurm train mnist-ensemble --set ensemble.members=2 --nodes 2 --ranks-per-node 2 --cpus-per-rank 4 --time 1:00:00
set -euo pipefail
here=$(dirname "$0")
# Inside another job: Slurm would take its variables, such as its memory, for options of the new jobs.
[ -z "${SLURM_JOB_ID:-}" ] || for name in "${!SLURM_@}"; do [ "$name" = SLURM_CONF ] || unset "$name"; done

train=$(sbatch --parsable "$here/train.sh")
echo "train.sh: job ${train%%;*}"
run=runs/mnist-ensemble-${train%%;*}

echo result: "$run"
