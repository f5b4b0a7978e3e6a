# A node loses its power in the middle of a job: it goes back into the queue, goes on elsewhere, and ends as if nothing had
# been; but not more often than it may.
. "$(dirname "$0")/../place.sh"
all_idle() { [ "$(sinfo -h -N -p main -o %T | grep -cx idle)" = 3 ]; }

many=(--set train.epochs=600)
"$CONVOKE" train recipe.toml "${many[@]}" --quiet --output alone > alone.log &
job=$(slurm train recipe.toml "${many[@]}" --nodes 2 --ranks-per-node 1 --cpus-per-rank 1 --submit | job_of train.sh)
wait_until 60 has_checkpoint "runs/tiny-$job"
nodes=$(squeue -h -j "$job" -o %N)
"$here/cluster.sh" crash node2
wait_until 90 says "tiny-$job.log" "lost a node or a rank; back into the queue"
wait_for "$job" 120
wait
check "it was on node1 and node2" [ "$nodes" = "node[1-2]" ]
check "it ends well" ended "$job" COMPLETED
check "on other nodes" says "tiny-$job.log" 'on node\[1,3\]: done'
check "with a reason in the run's folder" says "runs/tiny-$job/restarts.log" "lost a node"
check "and the same bits" same alone/model.h5 "runs/tiny-$job/model.h5"
"$here/cluster.sh" boot node2
wait_until 60 all_idle

# Under srun it is Slurm that notices, after a while, and puts the job back.
job=$(slurm train recipe.toml "${many[@]}" --nodes 2 --ranks-per-node 1 --cpus-per-rank 1 --launcher srun \
  --output jobs/srun --submit | job_of train.sh)
wait_until 60 has_checkpoint "runs/tiny-$job"
"$here/cluster.sh" crash node2
wait_until 90 says "tiny-$job.log" "restart 1"
wait_for "$job" 90
check "srun: it ends well" ended "$job" COMPLETED
check "srun: and the same bits" same alone/model.h5 "runs/tiny-$job/model.h5"
"$here/cluster.sh" boot node2
wait_until 60 all_idle

# A rank is killed, and no restarts are allowed: it says so, and fails.
job=$(slurm train recipe.toml --set train.epochs=100000 --nodes 2 --ranks-per-node 1 --cpus-per-rank 1 --restarts 0 \
  --output jobs/none --submit | job_of train.sh)
wait_until 60 has_checkpoint "runs/tiny-$job"
kill -9 $("$here/cluster.sh" pids node2 convoke)
wait_for "$job" 60
check "137" says "tiny-$job.log" "ended with 137: lost a node or a rank once more, after 0 restarts"
check "failed" ended "$job" FAILED
