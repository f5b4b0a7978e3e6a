#pragma once
#include <filesystem>
#include <vector>

#include "convoke/doctor/finding.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// Finds processes that were started together, but are each alone in a separate MPI world. Uses only the
/// environment variables of launchers (mpi::launcher_warning).
std::vector<Finding> check_launcher(const run::Machine& machine);

/// The process of Open MPI that started this one: mpirun, or its daemon on this host.
struct Launching {
  std::vector<int> cpus;  ///< that it may use itself, sorted; empty: no such process was found
  bool chosen = false;    ///< its options or the environment choose a binding
};

/// Finds the launcher among the parents of process `parent`. `process`: the folder in which the system
/// describes processes.
Launching launching(int parent, const std::filesystem::path& process = "/proc");

}  // namespace convoke::doctor
