#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace convoke::study {

/// What somebody wants of it.
struct LaunchWish {
  bool bind = true;   ///< each rank to cores of its own; else they are left to the system
  bool srun = false;  ///< within a job of Slurm, with PMIx, instead of mpirun
};

/// How ranks are started.
struct Launch {
  std::vector<std::string> words = {};  ///< the launcher and its options
  bool oversubscribed = false;          ///< more threads than cores
};

/// `ranks` ranks of `threads` threads on `cores` cores: each rank bound to cores of its own, neighbours side
/// by side, as `convoke doctor` advises; where there are not enough, all of them on all cores.
Launch launch_of(std::int64_t ranks, std::int64_t threads, std::int64_t cores, LaunchWish wish = {});

/// Cores that a study may use on this host: those of its affinity, at most as many as the control group
/// grants. Sorted, by their first logical CPU.
std::vector<int> cores_here();

/// Cores that ranks may have: within a job of Slurm those of all its nodes, else those of this host.
std::int64_t cores_of_job();

}  // namespace convoke::study
