#!/bin/bash
# mnist-sync: submits its jobs in their order. Start it in the folder from which the recipe is found.
# Written by: convoke slurm study mnist-sync --set train.batch=384 --nodes 3 --ranks-per-node 2 --cpus-per-rank 4 --time 1:00:00
set -euo pipefail
here=$(dirname "$0")
# Inside another job: Slurm would take its variables, such as its memory, for options of the new jobs.
[ -z "${SLURM_JOB_ID:-}" ] || for name in "${!SLURM_@}"; do [ "$name" = SLURM_CONF ] || unset "$name"; done
study=${1:-studies/mnist-sync-$(date +%Y%m%d-%H%M%S)}
convoke study "$here/study.toml" --output "$study" --begin

runs_1x2x4=$(sbatch --parsable --nodes=1 --array=2 "$here/study.sh" "$study")
echo "study.sh: job ${runs_1x2x4%%;*} (--nodes=1 --array=2)"
echo "${runs_1x2x4%%;*}" >> "$study/jobs.txt"

runs_2x2x4=$(sbatch --parsable --nodes=2 --array=0 "$here/study.sh" "$study")
echo "study.sh: job ${runs_2x2x4%%;*} (--nodes=2 --array=0)"
echo "${runs_2x2x4%%;*}" >> "$study/jobs.txt"

runs_3x2x4=$(sbatch --parsable --nodes=3 --array=1 "$here/study.sh" "$study")
echo "study.sh: job ${runs_3x2x4%%;*} (--nodes=3 --array=1)"
echo "${runs_3x2x4%%;*}" >> "$study/jobs.txt"

collect=$(sbatch --parsable --dependency="afterany:${runs_1x2x4%%;*}:${runs_2x2x4%%;*}:${runs_3x2x4%%;*}" --kill-on-invalid-dep=yes "$here/collect.sh" "$study" "$here")
echo "collect.sh: job ${collect%%;*}"
echo "${collect%%;*}" >> "$study/jobs.txt"

echo result: "$study"
