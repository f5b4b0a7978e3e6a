#pragma once
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// Finds processes that were started together, but are each alone in a separate MPI world. Uses only the
/// environment variables of launchers (mpi::launcher_warning).
std::vector<Finding> judge_launcher(const run::Machine& machine);

}  // namespace convoke::doctor
