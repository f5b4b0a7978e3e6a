# A node fails in the middle of a job: the job is requeued, continues on other nodes, and ends as if
# uninterrupted, up to its number of restarts.
. "$(dirname "$0")/../place.sh"
# Prints a node of a job other than that of its script: if the script's node were lost, Slurm itself would
# requeue the job.
other_node_of() { scontrol show hostnames "$(squeue -h -j "$1" -o %N)" | tail -n 1; }
done_without() {  # a log, a node
  ! scontrol show hostnames "$(sed -n 's/.* on \(node[^:]*\): done.*/\1/p' "$1")" | grep -qx "$2"
}
all_idle() { [ "$(sinfo -h -N -p "${PARTITION:-main}" -o %T | grep -cx idle)" = 3 ]; }

many=(--set train.epochs=200)
"$CONVOKE" train recipe.toml "${many[@]}" --quiet --output alone > alone.log &
job=$(slurm train recipe.toml "${many[@]}" --nodes 2 --ranks-per-node 1 --cpus-per-rank 1 --submit | job_of train.sh)
wait_until 120 has_checkpoint "runs/tiny-$job"
lost=$(other_node_of "$job")
"$here/cluster.sh" crash "$lost"
wait_until 180 says "tiny-$job.log" "ended with \(137\|205\): .*; requeued"
wait_for "$job" 180
wait
check "it succeeds" ended "$job" COMPLETED
check "on other nodes than $lost" done_without "tiny-$job.log" "$lost"
check "with a reason in the run's folder" says "runs/tiny-$job/restarts.log" "^job $job: exit code \(137\|205\) at step [1-9]"
check "and the same bits" same alone/model.h5 "runs/tiny-$job/model.h5"
"$here/cluster.sh" boot "$lost"
wait_until 120 all_idle

# Under srun, Slurm notices the failure after SlurmdTimeout, and requeues the job.
job=$(slurm train recipe.toml "${many[@]}" --nodes 2 --ranks-per-node 1 --cpus-per-rank 1 --launcher srun \
  --output jobs/srun --submit | job_of train.sh)
wait_until 120 has_checkpoint "runs/tiny-$job"
lost=$(other_node_of "$job")
"$here/cluster.sh" crash "$lost"
wait_until 180 says "tiny-$job.log" "restart 1"
wait_for "$job" 180
check "srun: it succeeds" ended "$job" COMPLETED
check "srun: and the same bits" same alone/model.h5 "runs/tiny-$job/model.h5"
"$here/cluster.sh" boot "$lost"
wait_until 120 all_idle

# A rank is killed, and no restarts are allowed: the job prints the reason and fails.
job=$(slurm train recipe.toml --set train.epochs=100000 --nodes 2 --ranks-per-node 1 --cpus-per-rank 1 --restarts 0 \
  --output jobs/none --submit | job_of train.sh)
wait_until 120 has_checkpoint "runs/tiny-$job"
kill -9 $("$here/cluster.sh" pids "$(other_node_of "$job")" convoke)
wait_for "$job" 120
check "137" says "tiny-$job.log" "ended with 137: a rank was killed (SIGKILL; is the memory too small?); not started again: no restart is allowed"
check "failed" ended "$job" FAILED
