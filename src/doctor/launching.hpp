#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace convoke::doctor {

/// The process of Open MPI that has started this one: mpirun, or its daemon on this host.
struct Launching {
  std::vector<int> cpus;  ///< where it may run itself, sorted; empty: no such process was found
  bool chosen = false;    ///< it was told how to bind, as far as can be seen from here
};

/// `process`: where the system describes processes.
Launching launching(int parent, const std::filesystem::path& process = "/proc");

}  // namespace convoke::doctor
