#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace convoke::study {

/// Options of a launch.
struct LaunchOptions {
  bool bind = true;   ///< bind each rank to its own cores; otherwise the system decides
  bool srun = false;  ///< in a Slurm job: use srun with PMIx instead of mpirun
};

/// The command that starts the ranks.
struct Launch {
  std::vector<std::string> words = {};  ///< the launcher and its options
  bool oversubscribed = false;          ///< more threads than cores
};

/// Returns the launch of `ranks` ranks of `threads` threads on `cores` cores: each rank is bound to its own
/// neighboring cores, as `convoke doctor` advises; with too few cores, all ranks share all cores.
Launch launch_of(std::int64_t ranks, std::int64_t threads, std::int64_t cores,
                 LaunchOptions launch_options = {});

/// Returns the cores of this host that a study may use: those of its affinity, limited by the quota of the
/// control group. Sorted, by their first logical CPU.
std::vector<int> cores_here();

/// Returns the number of cores for ranks: of all nodes in a Slurm job, otherwise of this host.
std::int64_t cores_of_job();

}  // namespace convoke::study
