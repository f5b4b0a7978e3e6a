#include "slurm_jobs/commands.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string_view>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/slurm/job_script.hpp"

namespace convoke::app {
namespace {

struct Answer {
  int code = 0;
  std::string text;  ///< output and errors
};

Answer run_command(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw Error(fmt::format("cannot run {}", command));
  Answer answer;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    answer.text.append(buffer.data(), count);
  }
  const int status = pclose(pipe);
  answer.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  while (answer.text.ends_with('\n')) answer.text.pop_back();
  return answer;
}

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
    const std::string reason = run_command(fmt::format("squeue --noheader --jobs={} --format=%R", job)).text;
    for (const Explanation& explanation : kExplanations) {
      if (reason.find(explanation.said) == std::string::npos || explanation.said == "dependency") continue;
      fmt::print(stderr, "warning: job {} waits, and may for ever: {}\n  hint: {}\n", job, reason,
                 explanation.hint);
      break;
    }
  }
}

}  // namespace

bool is_command(const std::string& command) { return run_command("command -v " + command).code == 0; }

std::vector<slurm::Partition> ask_sinfo() {
  if (!is_command("sinfo")) {
    throw Error("there is no Slurm here: sinfo is not on the PATH",
                "ask on a login node of the cluster, or say --nodes N --ranks-per-node R --cpus-per-rank C");
  }
  const Answer answer = run_command(slurm::kSinfo);
  if (answer.code != 0) throw Error("sinfo fails: " + answer.text, explain(answer.text));
  return slurm::parse_sinfo(answer.text);
}

std::string submit(const std::string& script) {
  if (!is_command("sbatch")) {
    throw Error("there is no Slurm here: sbatch is not on the PATH",
                fmt::format("submit on a login node of the cluster: bash {}", script));
  }
  const Answer answer = run_command("bash " + shell_word(script));
  if (answer.code == 0) {
    warn_of_hopeless(answer.text);
    return answer.text;
  }
  const std::size_t jobs = answer.text.rfind(": job ");
  throw Error(fmt::format("{}: Slurm refuses: {}", script, answer.text),
              std::string(explain(answer.text)) +
                  (jobs == std::string::npos ? "" : "; end those that it has taken by scancel"));
}

}  // namespace convoke::app
