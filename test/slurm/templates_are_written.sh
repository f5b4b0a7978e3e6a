#!/usr/bin/env bash
# The templates of slurm/ are what `convoke slurm` writes. Takes no Slurm. CONVOKE: the program; TEMPLATES: slurm/.
set -euo pipefail
written=$(mktemp -d)
trap 'rm -rf "$written"' EXIT
cd "$written"
"$TEMPLATES/write" "$CONVOKE" "$written"
# What memory is predicted depends on the processor.
diff -r --exclude=write --ignore-matching-lines='^#SBATCH --mem=' "$TEMPLATES" "$written" ||
  { echo "slurm/write writes them anew"; exit 1; }
[ "$(ls "$written" | wc -l)" -ge 7 ]
