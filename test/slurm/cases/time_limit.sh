# A job hits its time limit (a minute is the least that Slurm knows): warned, it writes a checkpoint, goes back into the
# queue and on, and ends with the bits of one that was not interrupted.
. "$(dirname "$0")/../place.sh"

size=(--nodes 3 --ranks-per-node 1 --cpus-per-rank 1)
# How many epochs take about a minute here: twice as long as it is given before the warning.
trial=$(slurm train recipe.toml --set train.epochs=100 "${size[@]}" --output jobs/trial --submit | job_of train.sh)
wait_for "$trial" 180
seconds=$(sed -n 's/.*"makespan_seconds": \([0-9.]*\).*/\1/p' "runs/tiny-$trial/summary.json")
epochs=$(awk -v s="$seconds" 'BEGIN { print int(100 * 55 / s) }')
echo "100 epochs in $seconds s: $epochs epochs"

job=$(slurm train recipe.toml --set "train.epochs=$epochs" "${size[@]}" --time 1 --warning 30 --output jobs/limited \
  --submit | job_of train.sh)
wait_until 120 says "tiny-$job.log" "ended with 85: stopped at a checkpoint; back into the queue"
wait_for "$job" 400
check "it ends well" ended "$job" COMPLETED
check "after a restart" says "tiny-$job.log" "restart 1"
"$CONVOKE" train recipe.toml --set "train.epochs=$epochs" --quiet --output alone > alone.log
check "with the same bits" same alone/model.h5 "runs/tiny-$job/model.h5"
