#!/bin/bash
# mnist-sync: trained by all ranks together
# Written by: convoke slurm train mnist-sync --nodes 1 --ranks-per-node 2 --cpus-per-rank 8 --time 1:00:00
#SBATCH --job-name=mnist-sync
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=2          # MPI ranks on each node
#SBATCH --cpus-per-task=8            # cores of a rank, a worker thread on each
#SBATCH --mem=512M                   # of each node: as predicted, and a quarter more
#SBATCH --time=01:00:00              # days-hours:minutes:seconds
#SBATCH --output=%x-%j.log           # name and number of the job
#SBATCH --requeue                    # it may be put back into the queue, and goes on where it was
#SBATCH --open-mode=append           # a job that starts again adds to its log
#SBATCH --signal=B:USR1@120          # seconds before the end (or up to 60 more) tell this script, which tells all ranks

run=${1:-runs/$SLURM_JOB_NAME-$SLURM_JOB_ID}  # the folder of the run

# What a cluster may want first:
# module load openmpi hdf5
convoke=(convoke)
# convoke=(apptainer exec --bind "$PWD" convoke.sif convoke)   # the host's mpirun starts a container per rank

# Each rank on cores of its own. Open MPI by itself gives one or two ranks a single core for all their threads.
launch=(mpirun --map-by "slot:PE=$SLURM_CPUS_PER_TASK" --bind-to core)

checkpoints() { find "$run/checkpoints" -name 'epoch-*.h5' 2> /dev/null | sort; }
before=$(checkpoints)
say() { echo "$(date '+%F %T') job $SLURM_JOB_ID on $SLURM_JOB_NODELIST: $*"; }
say "begins in $run, with $(checkpoints | wc -l) checkpoints there, restart ${SLURM_RESTART_COUNT:-0}"

# In the background, so that this shell hears Slurm's warning while it waits, and can pass it on.
"${launch[@]}" "${convoke[@]}" train mnist-sync --set run.threads="$SLURM_CPUS_PER_TASK" --output "$run" --resume &
launcher=$!
trap 'heard=yes; kill -USR1 "$launcher"' USR1  # the launcher passes it on to every rank on every node
trap 'heard=yes' TERM                          # scancel and preemption tell the ranks themselves
while heard=; wait "$launcher"; code=$?; [ -n "$heard" ]; do :; done  # a signal ends `wait` early

restarts=3  # at most so many times after a node was lost

give_up() { say "ended with $code: $1"; exit "$code"; }
again() {
  # Only a job that still runs may decide: else it was cancelled, or Slurm puts it back itself.
  case "$(scontrol show job "$SLURM_JOB_ID" 2> /dev/null)" in
    *JobState=RUNNING*) ;;
    *) give_up "$1; not put back into the queue: somebody, or Slurm, has ended the job" ;;
  esac
  [ "$(checkpoints)" != "$before" ] ||
    give_up "$1; not put back into the queue: without a new checkpoint it would only repeat itself. $2"
  say "ended with $code: $1; back into the queue"
  echo "$1" >> "$run/restarts.log"
  scontrol requeue "$SLURM_JOB_ID"
  exit "$code"
}

case $code in
  0) say "done" ;;
  85) again "stopped at a checkpoint" "Is the time limit too short for one?" ;;
  138) give_up "the warning came before training had begun: the time limit is too short (--time, --signal)" ;;
  134 | 135 | 137 | 139 | 143 | 205)  # killed, or mpirun has lost a node: Slurm by itself puts nothing back then
    lost=$(grep -cs '^lost a node or a rank' "$run/restarts.log")
    [ "${lost:-0}" -lt "$restarts" ] || give_up "lost a node or a rank once more, after $restarts restarts"
    again "lost a node or a rank" "Out of memory? (--mem)" ;;
  *) give_up "an error, which is above" ;;
esac
