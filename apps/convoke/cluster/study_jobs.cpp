#include "cluster/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <tuple>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/study/running/configuration.hpp"
#include "convoke/study/running/queued_runs.hpp"

namespace convoke::app {
namespace {

// Distributes the ranks that run at once over as few nodes as possible, as evenly as possible: the launcher
// fills the nodes in order.
slurm::Layout layout_of(const study::Configuration& configuration, int per_node,
                        const slurm::Partition* partition) {
  const recipe::Recipe recipe = recipe::Recipe::load(configuration.recipe, configuration.changes);
  const std::int64_t ranks = configuration.ranks_at_once();
  std::int64_t most = per_node;
  if (most == 0) most = std::max<std::int64_t>(1, partition->kinds.front().cores / configuration.at.threads);
  const std::int64_t nodes = (ranks + most - 1) / most, each = (ranks + nodes - 1) / nodes;
  const slurm::Layout requested{.nodes = nodes,
                                .ranks_per_node = static_cast<int>(each),
                                .cpus_per_rank = static_cast<int>(configuration.at.threads)};
  slurm::Workload workload = workload_of(recipe, configuration.at.emulated);
  workload.most_workers = std::max(workload.most_workers, nodes * each);  // planned_configurations() checks
  workload.rank_bytes = [bytes = workload.rank_bytes, ranks, nodes](int threads, std::int64_t, std::int64_t) {
    return bytes(threads, ranks, nodes);
  };
  try {
    return lay_out(workload, requested, partition);
  } catch (const Error& error) {
    throw Error(
        fmt::format("{}: {}", configuration.name, error.what()),
        "use fewer ranks or threads, a smaller train.micro_batch or data.memory, or another --partition");
  }
}

// All sizes of the study in ascending order, each with its runs among `numbers`.
std::vector<slurm::StudyJobs> sizes_of(const study::StudyFile& file,
                                       const std::vector<study::Configuration>& configurations,
                                       const std::vector<std::int64_t>& numbers, int per_node,
                                       const slurm::Partition* partition) {
  const auto alike = [](const slurm::Layout& a, const slurm::Layout& b) {
    return a.nodes == b.nodes && a.ranks_per_node == b.ranks_per_node && a.cpus_per_rank == b.cpus_per_rank;
  };
  std::vector<slurm::Layout> layouts;  // of each configuration
  std::vector<slurm::StudyJobs> sizes;
  for (const study::Configuration& configuration : configurations) {
    const slurm::Layout& layout = layouts.emplace_back(layout_of(configuration, per_node, partition));
    const auto same =
        std::ranges::find_if(sizes, [&](const auto& size) { return alike(size.layout, layout); });
    if (same == sizes.end()) {
      sizes.push_back({layout, {}});
    } else {
      same->layout.memory_mib = std::max(same->layout.memory_mib, layout.memory_mib);
    }
  }
  std::ranges::sort(sizes, {}, [](const slurm::StudyJobs& size) {
    return std::tuple(size.layout.workers(), size.layout.nodes, size.layout.ranks_per_node);
  });
  const std::vector<study::Task> tasks = study::tasks_of(file, configurations.size());
  for (const std::int64_t number : numbers) {
    const slurm::Layout& layout = layouts[tasks[static_cast<std::size_t>(number)].configuration];
    std::ranges::find_if(sizes, [&](const auto& size) {
      return alike(size.layout, layout);
    })->tasks.push_back(number);
  }
  return sizes;
}

}  // namespace

void plan_study_jobs(const study::StudyFile& file, const SlurmOptions& options, const slurm::JobOptions& job,
                     const slurm::Partition* partition, slurm::JobSet& jobs) {
  const std::vector<study::Configuration> configurations = study::planned_configurations(file);
  std::vector<study::Measurement> runs;
  if (options.resume)
    runs = study::all_runs(file, configurations, study::StudyFolder::open(options.study_folder));
  const std::vector<std::int64_t> wanted = study::wanted_tasks(file, configurations, runs);
  if (wanted.empty()) {
    throw Error(fmt::format("{}: no run is missing", options.study_folder),
                fmt::format("for more runs, set a smaller target or a larger at_most in the study file; for "
                            "results of its jobs and new columns: convoke study {} --output {} --collect",
                            shell_word(options.recipe), shell_word(options.study_folder)));
  }
  std::vector<std::string> words, more;
  if (job.launcher == slurm::Launcher::kSrun) words.emplace_back("--launcher srun");
  if (!job.bind) words.emplace_back("--bind none");
  if (options.layout.ranks_per_node > 0)
    more.push_back(fmt::format("--ranks-per-node {}", options.layout.ranks_per_node));
  if (!options.job.partition.empty()) more.push_back("--partition " + shell_word(options.job.partition));
  if (options.at_once > 0) more.push_back(fmt::format("--at-once {}", options.at_once));
  jobs.files.emplace_back("study.toml", file.to_toml());
  add_study(jobs, job, sizes_of(file, configurations, wanted, options.layout.ranks_per_node, partition),
            {.at_once = options.at_once,
             .folder = options.study_folder,
             .resumes = options.resume,
             .options = join(words, " "),
             .more_options = join(more, " ")});
}

std::string command_to_resume(const std::string& folder) {
  return fmt::format("convoke study {} --slurm --output {} --resume --submit",
                     shell_word((std::filesystem::path(folder) / "study.toml").string()), shell_word(folder));
}

std::string write_more(const study::StudyFile& file, const std::vector<study::Configuration>& configurations,
                       const std::vector<std::int64_t>& numbers, const std::string& folder,
                       const std::string& scripts, const SlurmOptions& options) {
  std::optional<slurm::Partition> asked;
  if (options.layout.ranks_per_node == 0) {
    asked = ask_sinfo(options.job.partition, kNodesOfStudyFile);
  }
  const slurm::Partition* const partition = asked ? &*asked : nullptr;
  slurm::JobSet jobs;
  add_study_runs(jobs, sizes_of(file, configurations, numbers, options.layout.ranks_per_node, partition),
                 options.at_once, true);
  jobs.before = fmt::format("study={}\n", shell_word(folder));
  const std::filesystem::path script = std::filesystem::path(scripts) / "more.sh";
  slurm::JobOptions job;
  job.name = file.name;
  job.written_by = "collect.sh, because more runs were needed";
  os::replace_text(script, slurm::submit_script(jobs, job));
  return script.string();
}

std::string submit_more(const study::StudyFile& file, const std::vector<study::Configuration>& configurations,
                        const std::vector<std::int64_t>& numbers, const std::string& folder,
                        const std::string& scripts, const SlurmOptions& options) {
  std::string by_hand = command_to_resume(folder);
  try {
    const std::string script = write_more(file, configurations, numbers, folder, scripts, options);
    by_hand = "bash " + shell_word(script);
    return submit(script);
  } catch (const Error& error) {
    throw Error(error.what(), error.hint().ends_with(by_hand)
                                  ? error.hint()
                                  : fmt::format("{}; on a login node: {}", error.hint(), by_hand));
  }
}

}  // namespace convoke::app
