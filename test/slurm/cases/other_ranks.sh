# Four ranks on two nodes start the run; three nodes with two ranks each continue it: the same bits.
. "$(dirname "$0")/../place.sh"

many=(--set train.epochs=150)
"$CONVOKE" train recipe.toml "${many[@]}" --quiet --output alone > alone.log
slurm train recipe.toml "${many[@]}" --nodes 2 --ranks-per-node 2 --cpus-per-rank 1 --output jobs > /dev/null
first=$(sbatch --parsable --no-requeue jobs/train.sh runs/shared)
wait_until 120 has_checkpoint runs/shared
scancel --batch --signal=USR1 "$first"
wait_until 120 says "tiny-$first.log" "ended with 85"
scancel "$first" 2> /dev/null || true
wait_for "$first" 180
check "it was not complete" absent runs/shared/summary.json
second=$(sbatch --parsable --nodes=3 --ntasks-per-node=2 jobs/train.sh runs/shared)
wait_for "$second" 180
check "it continues" says "tiny-$second.log" "begins in runs/shared, with [12] checkpoints"
check "and succeeds" ended "$second" COMPLETED
check "on six ranks" says runs/shared/summary.json '"ranks": 6'
check "with the same bits" same alone/model.h5 runs/shared/model.h5
