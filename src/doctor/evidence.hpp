#pragma once
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// What every rank has seen, at the root, by rank; elsewhere empty. Collective.
std::vector<Settings> gather(const Settings& mine, const mpi::Communicator& world);

/// One for each host, that of its first rank, in the order of these. Collective.
std::vector<Settings> gather_hosts(const Settings& mine, const run::Machine& machine,
                                   const mpi::Communicator& world);

}  // namespace convoke::doctor
