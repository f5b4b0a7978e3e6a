#include "slurm_jobs/commands.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "convoke/core/error.hpp"
#include "convoke/os/child_process.hpp"

namespace convoke::app {
namespace {

struct Explanation {
  std::string_view said;  ///< a part of what sbatch says
  const char* hint;
};

constexpr std::array kExplanations{
    Explanation{"nvalid partition", "sinfo -s lists the partitions; choose one with --partition"},
    Explanation{
        "nvalid account",
        "sacctmgr show associations user=$USER format=account,partition lists the accounts that you may "
        "use, scontrol show partition those that a partition takes; choose one with --account"},
    Explanation{"'s account",
                "scontrol show partition says which accounts a partition takes; choose another --account or "
                "--partition"},
    Explanation{"nvalid qos",
                "sacctmgr show associations user=$USER format=account,qos lists what you may use"},
    Explanation{"nvalid feature", "sinfo -o '%N %f' lists the features of nodes; choose with --constraint"},
    Explanation{
        "node configuration is not available",
        "no node has so many cores or so much memory: sinfo -o '%P %D %c %m %f'; fewer --ranks-per-node or "
        "--cpus-per-rank"},
    Explanation{"node count", "fewer --nodes: scontrol show partition says how many are allowed"},
    Explanation{"time limit", "a shorter --time: sinfo -o '%P %l' lists the limits"},
    Explanation{"dependency", "squeue --me lists the jobs that --after can name"},
    Explanation{"configuration source",
                "Slurm is installed here, but knows no cluster: ask on a login node, or set SLURM_CONF; or "
                "say --nodes N "
                "--ranks-per-node R --cpus-per-rank C"},
    Explanation{"contact slurm controller", "Slurm does not answer: scontrol ping; ask your administrator"},
};

const char* explain(const std::string& text) {
  for (const Explanation& explanation : kExplanations) {
    if (text.find(explanation.said) != std::string::npos) return explanation.hint;
  }
  return "man sbatch explains its messages";
}

// Slurm may take a job that it can never start, and says so only when it is asked why the job waits.
void warn_of_hopeless(const std::string& submitted) {
  constexpr std::string_view kBefore = ": job ";
  for (std::size_t at = submitted.find(kBefore); at != std::string::npos;
       at = submitted.find(kBefore, at + 1)) {
    const std::size_t from = at + kBefore.size();
    const std::string job = submitted.substr(from, submitted.find_first_not_of("0123456789", from) - from);
    const std::string reason = os::run({"squeue", "--noheader", "--jobs=" + job, "--format=%R"}).output;
    for (const Explanation& explanation : kExplanations) {
      if (reason.find(explanation.said) == std::string::npos || explanation.said == "dependency") continue;
      fmt::print(stderr, "warning: job {} waits, and may for ever: {}\n  hint: {}\n", job, reason,
                 explanation.hint);
      break;
    }
  }
}

}  // namespace

std::vector<slurm::Partition> ask_sinfo() {
  if (!os::find_program("sinfo")) {
    throw Error("there is no Slurm here: sinfo is not on the PATH",
                "ask on a login node of the cluster, or say --nodes N --ranks-per-node R --cpus-per-rank C");
  }
  const os::Answer answer = os::run({slurm::kSinfo.begin(), slurm::kSinfo.end()});
  if (answer.code != 0) throw Error("sinfo fails: " + answer.output, explain(answer.output));
  return slurm::parse_sinfo(answer.output);
}

std::string submit(const std::string& script) {
  if (!os::find_program("sbatch")) {
    throw Error("there is no Slurm here: sbatch is not on the PATH",
                fmt::format("submit on a login node of the cluster: bash {}", script));
  }
  const os::Answer answer = os::run({"bash", script});
  if (answer.code == 0) {
    warn_of_hopeless(answer.output);
    return answer.output;
  }
  const std::size_t jobs = answer.output.rfind(": job ");
  throw Error(fmt::format("{}: Slurm refuses: {}", script, answer.output),
              std::string(explain(answer.output)) +
                  (jobs == std::string::npos ? "" : "; end those that it has taken by scancel"));
}

}  // namespace convoke::app
