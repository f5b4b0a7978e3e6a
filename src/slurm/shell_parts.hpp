#pragma once

// Parts that all scripts share, in bash.
namespace convoke::slurm {

inline constexpr const char* kSurroundings =
    R"sh(# Modules that your cluster may need:
# module load openmpi hdf5
)sh";

inline constexpr const char* kContainer =
    R"sh(# convoke=(apptainer exec --bind "$PWD" convoke.sif convoke)   # the host's mpirun starts a container per rank
)sh";

inline constexpr const char* kMpirunNotices =
    R"sh(# Without these settings, mpirun notices a host that is cut off after eight minutes instead of one.
export OMPI_MCA_oob_tcp_keepalive_time=20 OMPI_MCA_oob_tcp_keepalive_intvl=5 OMPI_MCA_oob_tcp_keepalive_probes=4
)sh";

inline constexpr const char* kBoundMpirun =
    R"sh(# Each rank has its own cores. By default, Open MPI gives one or two ranks a single core for all their threads.
launch=(mpirun --map-by "slot:PE=$SLURM_CPUS_PER_TASK" --bind-to core)
)sh";

inline constexpr const char* kMpirun = "launch=(mpirun --bind-to none)\n";

inline constexpr const char* kSrunNotes =
    R"sh(# With the PMIx of Slurm 22.05, MPI_Init sometimes crashes unless it fences in a ring.
export SLURM_PMIX_FENCE=ring
# Since 22.05, srun does not take --cpus-per-task from the job.
)sh";

inline constexpr const char* kBoundSrun =
    R"sh(launch=(srun --mpi=pmix --cpus-per-task="$SLURM_CPUS_PER_TASK" --cpu-bind=cores --kill-on-bad-exit=1)
)sh";

inline constexpr const char* kSrun =
    R"sh(launch=(srun --mpi=pmix --cpus-per-task="$SLURM_CPUS_PER_TASK" --cpu-bind=none --kill-on-bad-exit=1)
)sh";

inline constexpr const char* kBefore =
    R"sh(checkpoints() { find "$run/checkpoints" -name 'epoch-*.h5' 2> /dev/null | sort; }
before=$(checkpoints)
say() { echo "$(date '+%F %T') job $SLURM_JOB_ID on $SLURM_JOB_NODELIST: $*"; }
say "begins in $run, with $(checkpoints | wc -l) checkpoints, restart ${SLURM_RESTART_COUNT:-0}"

# In the background, so that this shell receives Slurm's warning while it waits, and can pass it on.
)sh";

inline constexpr const char* kWatch =
    R"sh(launcher=$!
trap 'heard=yes; kill -USR1 "$launcher"' USR1  # the launcher passes it on to every rank on every node
trap 'heard=yes' TERM                          # scancel and preemption tell the ranks themselves
while heard=; wait "$launcher"; code=$?; [ -n "$heard" ]; do :; done  # a signal ends `wait` early
)sh";

inline constexpr const char* kAfterwards =
    R"sh(
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
)sh";

}  // namespace convoke::slurm
