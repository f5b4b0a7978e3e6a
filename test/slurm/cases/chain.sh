# prepare, train and report as jobs that wait for each other, and a sweep with its comparison.
. "$(dirname "$0")/../place.sh"

"$MAKE_DATASET" pictures
rm data.h5
output=$(slurm train recipe.toml --source pictures --chain --nodes 1 --ranks-per-node 2 --cpus-per-rank 1 --submit)
report=$(job_of report.sh <<< "$output")
wait_for "$report" 180
check "the last job of the chain succeeds" ended "$report" COMPLETED
check "the dataset was made" [ -s data.h5 ]
check "a report in its log" says "tiny-$report.log" "weighted avg"

output=$(slurm train recipe.toml --sweep seed=3,4 --sweep train.epochs=1,2 --nodes 1 --ranks-per-node 1 \
  --cpus-per-rank 1 --output jobs/sweep --submit)
compare=$(job_of compare.sh <<< "$output") sweep=$(job_of sweep.sh <<< "$output")
wait_for "$compare" 180
check "the comparison succeeds" ended "$compare" COMPLETED
check "four runs are compared" [ "$(grep -c "runs/tiny-$sweep/[0-3]" "tiny-$compare.log")" = 4 ]
check "each with its values" says "runs/tiny-$sweep/3/recipe.toml" '^seed = 4'

# If a job fails, the jobs that depend on it leave the queue.
output=$(slurm train recipe.toml --set data.path=nowhere.h5 --chain --nodes 1 --ranks-per-node 1 --cpus-per-rank 1 \
  --output jobs/fails --submit)
wait_for "$(job_of report.sh <<< "$output")" 30
check "it fails" ended "$(job_of train.sh <<< "$output")" FAILED
check "and is not requeued" says "tiny-$(job_of train.sh <<< "$output").log" "ended with 1: an error"

# Names may contain spaces.
job=$(slurm train recipe.toml --set 'name=my net' --set train.epochs=1 --nodes 1 --ranks-per-node 1 --cpus-per-rank 1 \
  --output 'my jobs' --submit | job_of train.sh)
wait_for "$job" 180
check "a run named 'my net'" [ -s "runs/my net-$job/summary.json" ]
check "a log of this name" says "my net-$job.log" "done"
