#include "cluster/jobs.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/process.hpp"

namespace convoke::app {
namespace {

struct Explanation {
  std::string_view message;  ///< a part of the message of sbatch
  const char* hint;
};

constexpr std::array kExplanations{
    Explanation{"nvalid partition", "sinfo -s lists the partitions; choose one with --partition"},
    Explanation{
        "nvalid account",
        "sacctmgr show associations user=$USER format=account,partition lists your accounts, and scontrol "
        "show partition those that a partition accepts; choose one with --account"},
    Explanation{"'s account",
                "scontrol show partition lists the accounts that a partition accepts; choose another "
                "--account or --partition"},
    Explanation{"nvalid qos",
                "sacctmgr show associations user=$USER format=account,qos lists those that you may use"},
    Explanation{"nvalid feature", "sinfo -o '%N %f' lists the features of nodes; choose with --constraint"},
    Explanation{
        "node configuration is not available",
        "no node has enough cores or memory (sinfo -o '%P %D %c %m %f'); use fewer --ranks-per-node or "
        "--cpus-per-rank"},
    Explanation{
        "PartitionConfig",
        "fewer nodes of the partition have so many cores and so much memory (sinfo -o '%P %D %c %m'); "
        "use fewer --nodes, --ranks-per-node or --cpus-per-rank"},
    Explanation{"node count", "use fewer --nodes; scontrol show partition shows the limit"},
    Explanation{"time limit", "use a shorter --time; sinfo -o '%P %l' lists the limits"},
    Explanation{
        "job array",
        "scontrol show config has the largest number of an array and one more (MaxArraySize); use fewer "
        "members, values or runs"},
    Explanation{"dependency", "squeue --me lists the jobs that --after can name"},
    Explanation{"configuration source",
                "Slurm is installed here, but not configured: use a login node, or set SLURM_CONF"},
    Explanation{"contact slurm controller", "Slurm does not answer (scontrol ping); ask your administrator"},
};

const char* explain(const std::string& text) {
  for (const Explanation& explanation : kExplanations) {
    if (text.find(explanation.message) != std::string::npos) return explanation.hint;
  }
  return "see man sbatch";
}

// Slurm may accept a job that it can never start; only the reason why the job waits shows this.
void warn_of_hopeless(const std::string& submitted) {
  constexpr std::string_view kBefore = ": job ";
  for (std::size_t at = submitted.find(kBefore); at != std::string::npos;
       at = submitted.find(kBefore, at + 1)) {
    const std::size_t from = at + kBefore.size();
    const std::string job = submitted.substr(from, submitted.find_first_not_of("0123456789", from) - from);
    const std::string reason = os::run({"squeue", "--noheader", "--jobs=" + job, "--format=%R"}).output;
    for (const Explanation& explanation : kExplanations) {
      if (reason.find(explanation.message) == std::string::npos || explanation.message == "dependency")
        continue;
      fmt::print(stderr, "warning: job {} may wait forever: {}\n  hint: {}\n", job, reason, explanation.hint);
      break;
    }
  }
}

}  // namespace

// The numbers are in jobs.txt, one a line (slurm::add_study_runs). squeue ignores those of jobs that ended.
std::string jobs_in_queue(const std::string& study) {
  std::istringstream recorded(read_text(std::filesystem::path(study) / "jobs.txt").value_or(""));
  const std::set<std::int64_t> jobs(std::istream_iterator<std::int64_t>(recorded), {});
  if (jobs.empty()) return {};
  std::istringstream answer(os::run({"squeue", "--noheader", fmt::format("--jobs={}", fmt::join(jobs, ",")),
                                     "--format=%F"},  // a line for each job of an array: its number
                                    {.errors = false, .seconds = 10})
                                .output);
  const std::set<std::int64_t> queued(std::istream_iterator<std::int64_t>(answer), {});
  return fmt::format("{}", fmt::join(queued, " "));
}

void require_no_jobs(const std::string& study) {
  const std::string queued = jobs_in_queue(study);
  if (queued.empty()) return;
  throw Error(fmt::format("{}: jobs of this study are still in the queue: {}", study, queued),
              fmt::format("wait for them, or end them with `scancel {}`", queued));
}

slurm::Partition ask_sinfo(const std::string& name, std::string_view options) {
  const std::string instead = fmt::format("; or add {}, and Slurm is not asked", options);
  if (!os::find_program("sinfo")) {
    throw Error("Slurm is not installed here: sinfo is not on the PATH",
                "use a login node of the cluster" + instead);
  }
  const os::Answer answer = os::run({slurm::kSinfo.begin(), slurm::kSinfo.end()});
  if (answer.code != 0) throw Error("sinfo fails: " + answer.output, explain(answer.output) + instead);
  const std::vector<slurm::Partition> partitions = slurm::parse_sinfo(answer.output);
  return choose(partitions, name);
}

std::string submit(const std::string& script) {
  if (!os::find_program("sbatch")) {
    throw Error("Slurm is not installed here: sbatch is not on the PATH",
                fmt::format("submit on a login node of the cluster: bash {}", shell_word(script)));
  }
  const os::Answer answer = os::run({"bash", script});
  if (answer.code == 0) {
    warn_of_hopeless(answer.output);
    return answer.output;
  }
  const std::size_t jobs = answer.output.rfind(": job ");
  throw Error(fmt::format("{}: Slurm refused: {}", script, answer.output),
              std::string(explain(answer.output)) +
                  (jobs == std::string::npos ? "" : "; cancel the jobs that it accepted with scancel"));
}

}  // namespace convoke::app
