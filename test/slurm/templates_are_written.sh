#!/usr/bin/env bash
# The templates of slurm/ equal the output of `convoke slurm`. Needs no Slurm. CONVOKE: the program;
# TEMPLATES: slurm/.
set -euo pipefail
written=$(mktemp -d)
trap 'rm -rf "$written"' EXIT
cd "$written"
"$TEMPLATES/write" "$CONVOKE" "$written"
# The predicted memory depends on the processor.
diff -r --exclude=write --ignore-matching-lines='^#SBATCH --mem=' "$TEMPLATES" "$written" ||
  { echo "run slurm/write to update them"; exit 1; }
[ "$(ls "$written" | wc -l)" -ge 7 ]
