#pragma once
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// The settings of all ranks, at the root, by rank; empty on other ranks. Collective.
std::vector<Settings> gather(const Settings& mine, const mpi::Communicator& world);

/// The settings of the first rank of each host, at the root, in the order of these ranks. Collective.
std::vector<Settings> gather_hosts(const Settings& mine, const run::Machine& machine,
                                   const mpi::Communicator& world);

/// The value of a variable of Open MPI ("btl_tcp_if_include"), or `otherwise`. The environment comes first,
/// which has the options of mpirun too. With `ask`, the library is asked for the settings in its files, which
/// takes a quarter of a second the first time.
std::string mpi_setting(const std::string& name, const std::string& otherwise, bool ask);

}  // namespace convoke::doctor
