#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace convoke::doctor {

/// The process of Open MPI that started this one: mpirun, or its daemon on this host.
struct Launching {
  std::vector<int> cpus;  ///< that it may use itself, sorted; empty: no such process was found
  bool chosen = false;    ///< its options or the environment choose a binding
};

/// Finds the launcher among the parents of process `parent`. `process`: the folder in which the system
/// describes processes.
Launching launching(int parent, const std::filesystem::path& process = "/proc");

}  // namespace convoke::doctor
