#!/bin/bash
# mnist-sync: all ranks train one model
# Written by: convoke slurm train mnist-sync --nodes 1 --ranks-per-node 2 --cpus-per-rank 8 --time 1:00:00
#SBATCH --job-name=mnist-sync
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=2          # MPI ranks on each node
#SBATCH --cpus-per-task=8            # cores of a rank, with a worker thread on each
#SBATCH --mem=512M                   # per node: the prediction and a quarter more
#SBATCH --time=01:00:00              # days-hours:minutes:seconds
#SBATCH --output=%x-%j.log           # name and number of the job
#SBATCH --requeue                    # a requeued job continues where it was
#SBATCH --open-mode=append           # a restarted job appends to its log
#SBATCH --signal=B:USR1@120          # signal this script this many seconds before the end, or up to 60 s earlier

run=${1:-runs/$SLURM_JOB_NAME-$SLURM_JOB_ID}  # the folder of the run

# Modules that your cluster may need:
# module load openmpi hdf5
convoke=(convoke)
# convoke=(apptainer exec --bind "$PWD" convoke.sif convoke)   # the host's mpirun starts a container per rank

# Without these settings, mpirun notices a host that is cut off after eight minutes instead of one.
export OMPI_MCA_oob_tcp_keepalive_time=20 OMPI_MCA_oob_tcp_keepalive_intvl=5 OMPI_MCA_oob_tcp_keepalive_probes=4
# Each rank has its own cores. By default, Open MPI gives one or two ranks a single core for all their threads.
launch=(mpirun --map-by "slot:PE=$SLURM_CPUS_PER_TASK" --bind-to core)

checkpoints() { find "$run/checkpoints" -name 'epoch-*.h5' 2> /dev/null | sort; }
before=$(checkpoints)
say() { echo "$(date '+%F %T') job $SLURM_JOB_ID on $SLURM_JOB_NODELIST: $*"; }
say "begins in $run, with $(checkpoints | wc -l) checkpoints, restart ${SLURM_RESTART_COUNT:-0}"

# In the background, so that this shell receives Slurm's warning while it waits, and can pass it on.
"${launch[@]}" "${convoke[@]}" train mnist-sync --set run.threads="$SLURM_CPUS_PER_TASK" --output "$run" --resume &
launcher=$!
trap 'heard=yes; kill -USR1 "$launcher"' USR1  # the launcher passes it on to every rank on every node
trap 'heard=yes' TERM                          # scancel and preemption tell the ranks themselves
while heard=; wait "$launcher"; code=$?; [ -n "$heard" ]; do :; done  # a signal ends `wait` early

restarts=3  # at most, after a node was lost

give_up() { say "ended with $code: $1"; exit "$code"; }
again() {
  # Only a running job may decide: otherwise it was cancelled, or Slurm requeues it itself.
  case "$(scontrol show job "$SLURM_JOB_ID" 2> /dev/null)" in
    *JobState=RUNNING*) ;;
    *) give_up "$1; not requeued, because a user or Slurm ended the job" ;;
  esac
  [ "$(checkpoints)" != "$before" ] ||
    give_up "$1; not requeued, because without a new checkpoint it would only repeat its work. $2"
  say "ended with $code: $1; requeued"
  echo "$1" >> "$run/restarts.log"
  scontrol requeue "$SLURM_JOB_ID"
  exit "$code"
}

case $code in
  0) say "done" ;;
  85) again "stopped at a checkpoint" "Is the time limit too short for one?" ;;
  138) give_up "the warning came before training started: the time limit is too short (--time, --signal)" ;;
  134 | 135 | 137 | 139 | 143 | 205 | 87)  # killed, lost a node, or stood still: Slurm does not requeue the job itself
    lost=$(grep -cs '^lost a node or a rank' "$run/restarts.log")
    [ "${lost:-0}" -lt "$restarts" ] || give_up "lost a node or a rank again, after $restarts restarts"
    again "lost a node or a rank" "Out of memory? (--mem)" ;;
  *) give_up "an error (see above)" ;;
esac
