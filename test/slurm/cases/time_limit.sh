# A job reaches its time limit (a minute is Slurm's shortest): after the warning it writes a checkpoint, is
# requeued, continues, and ends with the bits of an uninterrupted job.
. "$(dirname "$0")/../place.sh"

ranks() { for node in $(sinfo -h -N -p "${PARTITION:-main}" -o %N); do "$here/cluster.sh" pids "$node" convoke; done; }
# True if warned: USR1 (bit 9) is pending for a stopped rank.
warned() { local pid; for pid in $(ranks); do grep -qs '^ShdPnd:.*[2367abef]..$' "/proc/$pid/status" && return 0; done; false; }

many=(--set train.epochs=200)
# Slurm checks its limits every 30 s, and warns if the next check would be too late: 20 to 50 s after the
# start.
job=$(slurm train recipe.toml "${many[@]}" --nodes 3 --ranks-per-node 1 --cpus-per-rank 1 --time 1 --warning 10 --submit |
  job_of train.sh)
# On any machine the job is then in the middle: once started, the ranks are stopped until the warning arrives.
wait_until 60 has_checkpoint "runs/tiny-$job"
stopped=$(ranks)
check "three ranks are at work" kill -STOP $stopped
check "each on a node" [ "$(wc -w <<< "$stopped")" = 3 ]
wait_until 120 warned
kill -CONT $stopped
wait_until 60 says "tiny-$job.log" "ended with 85: stopped by a signal, with a checkpoint; requeued"
wait_for "$job" 400
check "it succeeds" ended "$job" COMPLETED
check "after a restart" says "tiny-$job.log" "restart 1"
"$CONVOKE" train recipe.toml "${many[@]}" --quiet --output alone > alone.log
check "with the same bits" same alone/model.h5 "runs/tiny-$job/model.h5"
