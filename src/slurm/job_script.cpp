#include "convoke/slurm/job_set.hpp"

#include <fmt/format.h>

#include "convoke/core/text.hpp"

namespace convoke::slurm {
namespace {

// Parts that all scripts share, in bash.

constexpr const char* kModules =
    R"sh(# Modules that your cluster may need:
# module load openmpi hdf5
)sh";

constexpr const char* kContainer =
    R"sh(# convoke=(apptainer exec --bind "$PWD" convoke.sif convoke)   # the host's mpirun starts a container per rank
)sh";

constexpr const char* kMpirunNotices =
    R"sh(# Without these settings, mpirun notices a host that is cut off after eight minutes instead of one.
export OMPI_MCA_oob_tcp_keepalive_time=20 OMPI_MCA_oob_tcp_keepalive_intvl=5 OMPI_MCA_oob_tcp_keepalive_probes=4
)sh";

constexpr const char* kBoundMpirun =
    R"sh(# Each rank has its own cores. By default, Open MPI gives one or two ranks a single core for all their threads.
launch=(mpirun --map-by "slot:PE=$SLURM_CPUS_PER_TASK" --bind-to core)
)sh";

constexpr const char* kMpirun = "launch=(mpirun --bind-to none)\n";

constexpr const char* kSrunNotes =
    R"sh(# With the PMIx of Slurm 22.05, MPI_Init sometimes crashes unless it fences in a ring.
export SLURM_PMIX_FENCE=ring
# Since 22.05, srun does not take --cpus-per-task from the job.
)sh";

/// A format: "cores", or "none" if the system chooses them.
constexpr const char* kSrun =
    R"sh(launch=(srun --mpi=pmix --cpus-per-task="$SLURM_CPUS_PER_TASK" --cpu-bind={} --kill-on-bad-exit=1)
)sh";

constexpr const char* kBefore =
    R"sh(say() { echo "$(date '+%F %T') job $SLURM_JOB_ID on $SLURM_JOB_NODELIST: $*"; }
checkpoints=$(find "$run/checkpoints" -name 'epoch-*.h5' 2> /dev/null | wc -l)
say "begins in $run, with $checkpoints checkpoints, restart ${SLURM_RESTART_COUNT:-0}"

# In the background, so that this shell receives Slurm's warning while it waits, and can pass it on.
)sh";

constexpr const char* kWatch =
    R"sh(launcher=$!
trap 'heard=yes; kill -USR1 "$launcher"' USR1  # the launcher passes it on to every rank on every node
trap 'heard=yes' TERM                          # scancel and preemption tell the ranks themselves
while heard=; wait "$launcher"; code=$?; [ -n "$heard" ]; do :; done  # a signal ends `wait` early
)sh";

constexpr const char* kAfterwards =
    R"sh([ "$code" -ne 0 ] || { say "done"; exit 0; }
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
)sh";

struct Directive {
  std::string option;   // "--nodes=2"
  std::string comment;  // may be empty
};
using Directives = std::vector<Directive>;

Directives size_of(const Layout& layout) {
  Directives list{{fmt::format("--nodes={}", layout.nodes), ""},
                  {fmt::format("--ntasks-per-node={}", layout.ranks_per_node), "MPI ranks on each node"},
                  {fmt::format("--cpus-per-task={}", layout.cpus_per_rank),
                   "cores of a rank, with a worker thread on each"}};
  if (layout.threads_per_core > 1) {
    list.push_back({"--hint=nomultithread", "one thread per core: a second does not speed up arithmetic"});
  }
  if (layout.memory_mib > 0) {
    list.push_back(
        {fmt::format("--mem={}M", layout.memory_mib), "per node: the prediction and a quarter more"});
  }
  return list;
}

Directives queue_of(const JobOptions& options) {
  Directives list{{"--time=" + format_time(options.time_seconds), "days-hours:minutes:seconds"}};
  if (!options.partition.empty()) list.push_back({"--partition=" + shell_word(options.partition), ""});
  if (!options.account.empty()) list.push_back({"--account=" + shell_word(options.account), ""});
  if (!options.constraint.empty()) {
    list.push_back({"--constraint=" + shell_word(options.constraint), "features that every node must have"});
  }
  if (!options.mail.empty()) {
    list.push_back({"--mail-user=" + shell_word(options.mail), ""});
    list.push_back({"--mail-type=END,FAIL,REQUEUE", ""});
  }
  return list;
}

Directives restarts_of(const JobOptions& options) {
  return {{"--requeue", "a requeued job continues where it was"},
          {"--open-mode=append", "a restarted job appends to its log"},
          {fmt::format("--signal=B:USR1@{}", options.warning_seconds),
           "signal this script this many seconds before the end, or up to 60 s earlier"}};
}

std::string launch_of(const JobOptions& options) {
  if (options.launcher == Launcher::kMpirun) {
    return std::string(kMpirunNotices) + (options.bind ? kBoundMpirun : kMpirun);
  }
  return kSrunNotes + fmt::format(kSrun, options.bind ? "cores" : "none");
}

}  // namespace

File make_script(const JobOptions& options, const std::string& file, const std::string& what,
                 const Layout& layout, const JobCommand& command, const std::string& array) {
  std::string text = fmt::format("#!/bin/bash\n# {}: {}\n", options.name, what);
  if (!options.work.empty() && command.resumes) text += "# " + options.work + "\n";
  text += "# Written by: " + options.written_by + "\n";
  Directives directives{{"--job-name=" + shell_word(options.name), ""}};
  const auto add = [&](const Directives& list) {
    directives.insert(directives.end(), list.begin(), list.end());
  };
  add(size_of(layout));
  add(queue_of(options));
  if (!array.empty()) {
    add({{"--array=" + array, "a job for each of these numbers"},
         {"--output=%x-%A-%a.log", "name, number of the array, number in it"}});
  } else {
    add({{"--output=%x-%j.log", "name and number of the job"}});
  }
  if (command.resumes) add(restarts_of(options));
  for (const auto& [option, comment] : directives) {
    text += comment.empty() ? fmt::format("#SBATCH {}\n", option)
                            : fmt::format("#SBATCH {:<28} # {}\n", option, comment);
  }

  text += fmt::format("\n{}\n{}convoke=({})\n{}", command.run, kModules, options.program, kContainer);
  if (command.alone) {
    if (options.launcher == Launcher::kSrun) text += std::string("\n") + kSrunNotes;
    return {file, text + "\n\"${convoke[@]}\" " + command.arguments + "\n"};
  }
  text += "\n" + launch_of(options);
  if (!command.setup.empty()) text += "\n" + command.setup;
  const std::string call = "\"${launch[@]}\" \"${convoke[@]}\" " + command.arguments;
  if (!command.resumes) return {file, text + "\n" + call + "\n"};
  text += std::string("\n") + kBefore + call + " &\n" + kWatch;
  text += fmt::format("\nrestarts={}  # at most, after a node was lost\n", options.restarts);
  return {file, text + kAfterwards};
}

}  // namespace convoke::slurm
