#pragma once
#include <span>
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// What a rank might have had instead of its placement.
struct AvailableCores {
  std::vector<int> cores = {};  ///< that its launcher may use, neighbours in memory (NUMA) beside each other
  bool chosen = false;          ///< the user has asked the launcher for a binding
  std::string refused = {};     ///< why the system would not let this process run elsewhere; "" if it did
};

/// Who runs where.
struct Binding {
  run::Machine machine;
  std::vector<AvailableCores> available = {};  ///< of every rank
  std::string mended = {};                     ///< what was changed, in one line; "" if nothing was
};

/// run::survey, after bindings that nobody has asked for and that leave a rank one core only (Open MPI's
/// default for one and two ranks), or several ranks or threads one core, are mended: the ranks of a node then
/// share the launcher's cores out evenly. Before any worker thread is started, since these inherit where they
/// may run. `threads`: per rank as the user wants them; 0: auto. Collective.
Binding settle(const mpi::Communicator& world, int threads);

/// The cores that each rank should move to; empty for those that stay. Pure.
std::vector<std::vector<int>> better_cores(std::span<const run::Placement> placements,
                                           std::span<const AvailableCores> available, int threads);

/// More threads than cores: an error where there are cores to be had and the ranks or threads have one only;
/// else a warning, as less than the job might have. Pure.
std::vector<Finding> judge_binding(const Binding& binding, int threads);

/// More threads than the control group grants CPUs. Pure.
std::vector<Finding> judge_quota(const run::Machine& machine, int threads);

}  // namespace convoke::doctor
