#pragma once

// Parts that all scripts share, in bash.
namespace convoke::slurm {

inline constexpr const char* kModules =
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

/// A format: "cores", or "none" if the system chooses them.
inline constexpr const char* kSrun =
    R"sh(launch=(srun --mpi=pmix --cpus-per-task="$SLURM_CPUS_PER_TASK" --cpu-bind={} --kill-on-bad-exit=1)
)sh";

inline constexpr const char* kBefore =
    R"sh(say() { echo "$(date '+%F %T') job $SLURM_JOB_ID on $SLURM_JOB_NODELIST: $*"; }
checkpoints=$(find "$run/checkpoints" -name 'epoch-*.h5' 2> /dev/null | wc -l)
say "begins in $run, with $checkpoints checkpoints, restart ${SLURM_RESTART_COUNT:-0}"

# In the background, so that this shell receives Slurm's warning while it waits, and can pass it on.
)sh";

inline constexpr const char* kWatch =
    R"sh(launcher=$!
trap 'heard=yes; kill -USR1 "$launcher"' USR1  # the launcher passes it on to every rank on every node
trap 'heard=yes' TERM                          # scancel and preemption tell the ranks themselves
while heard=; wait "$launcher"; code=$?; [ -n "$heard" ]; do :; done  # a signal ends `wait` early
)sh";

inline constexpr const char* kAfterwards =
    R"sh([ "$code" -ne 0 ] || { say "done"; exit 0; }
# Only a running job may decide: otherwise it was canceled, or Slurm requeues it itself.
case "$(scontrol show job "$SLURM_JOB_ID" 2> /dev/null)" in
  *JobState=RUNNING*) ;;
  *) say "ended with $code; not requeued, because a user or Slurm ended the job"; exit "$code" ;;
esac
if why=$("${convoke[@]}" supervise --ended "$code" --output "$run" --restarts "$restarts"); then
  say "ended with $code: $why; requeued"
  scontrol requeue "$SLURM_JOB_ID"
else
  say "ended with $code: $why"
fi
exit "$code"
)sh";

}  // namespace convoke::slurm
