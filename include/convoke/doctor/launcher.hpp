#pragma once
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// Processes that were started together, but of which each is alone in its MPI world. Looks at the variables
/// of launchers (mpi::launcher_warning) and at nothing else.
std::vector<Finding> judge_launcher(const run::Machine& machine);

}  // namespace convoke::doctor
