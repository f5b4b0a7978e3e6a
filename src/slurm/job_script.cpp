#include "convoke/slurm/job_script.hpp"

#include <fmt/format.h>

#include "convoke/core/text.hpp"
#include "shell_parts.hpp"

namespace convoke::slurm {
namespace {

using Directives = std::vector<JobScript::Directive>;

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

std::string to_text(const JobScript& script) {
  std::string text = "#!/bin/bash\n";
  for (const std::string& line : script.about) text += "# " + line + "\n";
  for (const auto& [option, comment] : script.directives) {
    text += comment.empty() ? fmt::format("#SBATCH {}\n", option)
                            : fmt::format("#SBATCH {:<28} # {}\n", option, comment);
  }
  return text + "\n" + script.body;
}

JobScript make_script(const JobOptions& options, const std::string& file, const std::string& what,
                      const Layout& layout, const JobCommand& command, const std::string& array) {
  JobScript script;
  script.file = file;
  script.about = {fmt::format("{}: {}", options.name, what)};
  if (!options.work.empty() && command.resumes) script.about.push_back(options.work);
  script.about.push_back("Written by: " + options.written_by);
  script.directives = {{"--job-name=" + shell_word(options.name), ""}};
  const auto add = [&](const Directives& list) {
    script.directives.insert(script.directives.end(), list.begin(), list.end());
  };
  add(size_of(layout));
  add(queue_of(options));
  if (!array.empty()) {
    script.directives.push_back({"--array=" + array, "a job for each of these numbers"});
    script.directives.push_back({"--output=%x-%A-%a.log", "name, number of the array, number in it"});
  } else {
    script.directives.push_back({"--output=%x-%j.log", "name and number of the job"});
  }
  if (command.resumes) add(restarts_of(options));

  std::string& body = script.body;
  body = command.run;
  body += std::string("\n") + kModules + fmt::format("convoke=({})\n", options.program) + kContainer;
  if (command.alone) {
    if (options.launcher == Launcher::kSrun) body += std::string("\n") + kSrunNotes;
    body += "\n\"${convoke[@]}\" " + command.arguments + "\n";
    return script;
  }
  body += "\n" + launch_of(options);
  if (!command.setup.empty()) body += "\n" + command.setup;
  if (!command.resumes) {
    body += "\n\"${launch[@]}\" \"${convoke[@]}\" " + command.arguments + "\n";
    return script;
  }
  body += std::string("\n") + kBefore + "\"${launch[@]}\" \"${convoke[@]}\" " + command.arguments + " &\n" +
          kWatch;
  body += fmt::format("\nrestarts={}  # at most, after a node was lost\n", options.restarts);
  body += kAfterwards;
  return script;
}

}  // namespace convoke::slurm
