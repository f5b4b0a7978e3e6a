#!/bin/bash
# mnist-ensemble: submits its jobs in their order. Start it in the folder from which the recipe is found.
# Written by: convoke slurm ensemble mnist-ensemble --set ensemble.members=4 --nodes 1 --ranks-per-node 1 --cpus-per-rank 4 --at-once 2 --chain --time 1:00:00
set -euo pipefail
here=$(dirname "$0")
# Inside another job: Slurm would take its variables, such as its memory, for options of the new jobs.
[ -z "${SLURM_JOB_ID:-}" ] || for name in "${!SLURM_@}"; do [ "$name" = SLURM_CONF ] || unset "$name"; done

member=$(sbatch --parsable "$here/member.sh")
echo "member.sh: job ${member%%;*}"
run=runs/mnist-ensemble-${member%%;*}

gather=$(sbatch --parsable --dependency="afterok:${member%%;*}" --kill-on-invalid-dep=yes "$here/gather.sh" "$run")
echo "gather.sh: job ${gather%%;*}"
run=$run/ensemble

report=$(sbatch --parsable --dependency="afterok:${gather%%;*}" --kill-on-invalid-dep=yes "$here/report.sh" "$run")
echo "report.sh: job ${report%%;*}"

echo result: "$run"
