#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"
#include "convoke/mpi/communicator.hpp"
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

/// The cores that a rank could have, whatever its placement is.
struct AvailableCores {
  std::vector<int> cores = {};  ///< those of its launcher; cores of one NUMA node follow each other
  bool chosen = false;          ///< the user asked the launcher for a binding
  std::string refused = {};     ///< why the system did not let this process move; "" if it did
};

/// Where each rank runs.
struct Binding {
  run::Machine machine;
  std::vector<AvailableCores> available = {};  ///< for every rank
  std::string fixed = {};                      ///< what was changed, in one line; "" if nothing
};

/// Fixes bindings that the user did not choose, then returns where each rank runs (run::survey). A binding is
/// fixed if it leaves a rank only one core (Open MPI's default for one and two ranks), or gives one core to
/// several ranks or threads. The ranks of a node then divide the launcher's cores evenly. Call it before
/// worker threads are started, because they inherit the cores. `threads`: requested per rank; 0: auto.
/// Collective.
Binding fix_binding(const mpi::Communicator& world, int threads);

/// The cores that each rank should move to; empty for a rank that stays. Pure.
std::vector<std::vector<int>> better_cores(std::span<const run::Placement> placements,
                                           std::span<const AvailableCores> available, int threads);

/// Finds more threads than cores. This is an error if they have only one core although more are available;
/// otherwise a warning. A note says that cores stay unused. Pure.
std::vector<Finding> check_binding(const Binding& binding, int threads);

/// Finds more threads than the CPUs that the control group grants. Pure.
std::vector<Finding> check_quota(const run::Machine& machine, int threads);

}  // namespace convoke::doctor
