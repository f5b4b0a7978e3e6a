#include "convoke/study/running/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/os/environment.hpp"
#include "convoke/os/memory.hpp"
#include "convoke/os/processors.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::study {

Launch launch_of(std::int64_t ranks, std::int64_t threads, std::int64_t cores, LaunchOptions launch_options) {
  Launch launch{.oversubscribed = ranks * threads > cores};
  std::vector<std::string>& words = launch.words;
  const bool bind = launch_options.bind && !launch.oversubscribed;
  if (launch_options.srun) {
    words = {"srun", "--mpi=pmix", "--kill-on-bad-exit=1", fmt::format("--ntasks={}", ranks)};
    words.push_back(fmt::format("--cpus-per-task={}", threads));
    words.emplace_back(bind ? "--cpu-bind=cores" : "--cpu-bind=none");
    if (launch.oversubscribed) words.emplace_back("--overcommit");
    return launch;
  }
  words = {"mpirun", "-n", fmt::format("{}", ranks)};
  if (launch.oversubscribed) words.emplace_back("--oversubscribe");
  if (bind) words.insert(words.end(), {"--map-by", fmt::format("slot:PE={}", threads)});
  words.insert(words.end(), {"--bind-to", bind ? "core" : "none"});
  return launch;
}

std::int64_t cores_of_job() {
  const auto count = [](const char* variable) {
    return std::max<std::int64_t>(0, os::number_in(variable).value_or(0));
  };
  const std::int64_t nodes = count("SLURM_JOB_NUM_NODES"), per_node = count("SLURM_NTASKS_PER_NODE"),
                     cpus = count("SLURM_CPUS_PER_TASK");
  const std::int64_t tasks = per_node > 0 ? nodes * per_node : count("SLURM_NTASKS");
  // Slurm sets only those that the user requested. The affinity shows the cores of one node.
  const bool known = nodes > 1 ? tasks > 0 : nodes * per_node * cpus > 0;
  return known ? tasks * std::max<std::int64_t>(1, cpus) : static_cast<std::int64_t>(cores_here().size());
}

std::vector<int> cores_here() {
  std::vector<int> cores = os::cores_of(os::allowed_cpus(), os::online_cpus());
  if (const double quota = os::cpu_quota(); quota > 0) {
    const auto granted = static_cast<std::size_t>(std::max(1.0, std::floor(quota)));
    if (granted < cores.size()) cores.resize(granted);
  }
  return cores;
}

}  // namespace convoke::study
