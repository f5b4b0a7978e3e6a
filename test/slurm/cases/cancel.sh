# scancel ends a job for good: it is not requeued, and can be resumed by hand.
. "$(dirname "$0")/../place.sh"

job=$(slurm train recipe.toml --set train.epochs=100000 --nodes 2 --ranks-per-node 1 --cpus-per-rank 1 --submit |
  job_of train.sh)
wait_until 120 has_checkpoint "runs/tiny-$job"
scancel "$job"
wait_for "$job" 180
sleep 2
check "canceled" ended "$job" CANCELLED
check "not requeued" no_jobs
check "its checkpoints exist" has_checkpoint "runs/tiny-$job"
epochs=$(ls "runs/tiny-$job/checkpoints" | sed -n 's/epoch-\([0-9]*\).*/\1/p' | sort -n | tail -n 1)
"$CONVOKE" train recipe.toml --quiet --set "train.epochs=$((10#$epochs + 1))" --output "runs/tiny-$job" --resume > resumed.log
check "resumed by hand" says resumed.log "run folder: runs/tiny-$job"

# A signal by hand has the effect of Slurm's signal: checkpoint, requeue, continue.
job=$(slurm train recipe.toml --set train.epochs=100000 --nodes 1 --ranks-per-node 2 --cpus-per-rank 1 \
  --output jobs/told --submit | job_of train.sh)
wait_until 120 has_checkpoint "runs/tiny-$job"
scancel --batch --signal=USR1 "$job"
wait_until 120 says "tiny-$job.log" "restart 1"
check "it printed why" says "tiny-$job.log" "ended with 85: stopped by a signal, with a checkpoint; requeued"
scancel "$job"
wait_for "$job" 180

# Without a signal, the job asks Slurm for its remaining time, and stops early enough.
job=$(slurm train recipe.toml --set train.epochs=100000 --set run.stop_before='"52 s"' --nodes 1 --ranks-per-node 2 \
  --cpus-per-rank 1 --time 1 --warning 1 --output jobs/knows --submit | job_of train.sh)
wait_until 120 says "tiny-$job.log" "restart 1"
check "it knew when its time ended" says "tiny-$job.log" "Stopped by the end of the job's time, with a checkpoint"
check "and was requeued" says "tiny-$job.log" "ended with 85: stopped by a signal, with a checkpoint; requeued"
scancel "$job"
