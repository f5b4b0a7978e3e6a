#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace convoke::study {

/// How ranks are started.
struct Launch {
  std::vector<std::string> words;  ///< mpirun and its options
  bool oversubscribed = false;     ///< more threads than cores
};

/// `ranks` ranks of `threads` threads on `cores` cores: each rank bound to cores of its own, neighbours side by
/// side, as `convoke doctor` advises; where there are not enough, all of them on all cores. `bind`: false
/// leaves them to the system in any case.
Launch launch_of(std::int64_t ranks, std::int64_t threads, std::int64_t cores, bool bind = true);

/// Cores that a study may use on this host: those of its affinity, at most as many as the control group
/// grants. Sorted, by their first logical CPU.
std::vector<int> cores_here();

}  // namespace convoke::study
