#!/bin/bash
# mnist-ensemble: each job of the array trains one member
# a step has 8 micro-batches of 8 samples, which keep 4 of 4 cores busy
# Written by: convoke slurm ensemble mnist-ensemble --set ensemble.members=4 --nodes 1 --ranks-per-node 1 --cpus-per-rank 4 --at-once 2 --chain --time 1:00:00
#SBATCH --job-name=mnist-ensemble
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1          # MPI ranks on each node
#SBATCH --cpus-per-task=4            # cores of a rank, with a worker thread on each
#SBATCH --mem=512M                   # per node: the prediction and a quarter more
#SBATCH --time=01:00:00              # days-hours:minutes:seconds
#SBATCH --array=0-3%2                # a job for each of these numbers
#SBATCH --output=%x-%A-%a.log        # name, number of the array, number in it
#SBATCH --requeue                    # a requeued job continues where it was
#SBATCH --open-mode=append           # a restarted job appends to its log
#SBATCH --signal=B:USR1@120          # signal this script this many seconds before the end, or up to 60 s earlier

run=${1:-runs/$SLURM_JOB_NAME-$SLURM_ARRAY_JOB_ID}/member-$SLURM_ARRAY_TASK_ID

# Modules that your cluster may need:
# module load openmpi hdf5
convoke=(convoke)
# convoke=(apptainer exec --bind "$PWD" convoke.sif convoke)   # the host's mpirun starts a container per rank

# Without these settings, mpirun notices a host that is cut off after eight minutes instead of one.
export OMPI_MCA_oob_tcp_keepalive_time=20 OMPI_MCA_oob_tcp_keepalive_intvl=5 OMPI_MCA_oob_tcp_keepalive_probes=4
# Each rank has its own cores. By default, Open MPI gives one or two ranks a single core for all their threads.
launch=(mpirun --map-by "slot:PE=$SLURM_CPUS_PER_TASK" --bind-to core)

say() { echo "$(date '+%F %T') job $SLURM_JOB_ID on $SLURM_JOB_NODELIST: $*"; }
checkpoints=$(find "$run/checkpoints" -name 'epoch-*.h5' 2> /dev/null | wc -l)
say "begins in $run, with $checkpoints checkpoints, restart ${SLURM_RESTART_COUNT:-0}"

# In the background, so that this shell receives Slurm's warning while it waits, and can pass it on.
"${launch[@]}" "${convoke[@]}" train mnist-ensemble --set ensemble.members=4 --set run.threads="$SLURM_CPUS_PER_TASK" --member "$SLURM_ARRAY_TASK_ID" \
  --output "$run" --resume &
launcher=$!
trap 'heard=yes; kill -USR1 "$launcher"' USR1  # the launcher passes it on to every rank on every node
trap 'heard=yes' TERM                          # scancel and preemption tell the ranks themselves
while heard=; wait "$launcher"; code=$?; [ -n "$heard" ]; do :; done  # a signal ends `wait` early

restarts=3  # at most, after a node was lost
[ "$code" -ne 0 ] || { say "done"; exit 0; }
# SLURM_JOB_ID of an array's last job is the number of the whole array.
job=$SLURM_JOB_ID
[ "${SLURM_ARRAY_JOB_ID:-}" != "$job" ] || job+=_$SLURM_ARRAY_TASK_ID
# Only a running job may decide: otherwise it was canceled, or Slurm requeues it itself.
case "$(scontrol show job "$job" 2> /dev/null)" in
  *JobState=RUNNING*) ;;
  *) say "ended with $code; not requeued, because a user or Slurm ended the job"; exit "$code" ;;
esac
if why=$("${convoke[@]}" supervise --ended "$code" --output "$run" --restarts "$restarts"); then
  say "ended with $code: $why; requeued"
  scontrol requeue "$job"
else
  say "ended with $code: $why"
fi
exit "$code"
