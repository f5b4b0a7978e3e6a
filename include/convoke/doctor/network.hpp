#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// A network interface of a host that is up and has an IPv4 address.
struct Interface {
  std::string name = {};
  std::string address = {};  ///< "10.0.0.3"
  int prefix = 0;            ///< bits of its network
};

/// What Open MPI's TCP transport may use on a host.
struct HostNetwork {
  std::string host = {};
  std::vector<Interface> interfaces = {};
  std::string include = {}, exclude = {};  ///< as MPI is set: names and networks, separated by commas
  bool yields = false;                     ///< ranks that wait leave the core to others
};

/// Of every host, at the root. `ask`: MPI for what its files say, which takes a quarter of a second; else the
/// environment counts, where mpirun puts its options too. Whether ranks yield is asked in any case where
/// there are more of them than cores. Collective.
std::vector<HostNetwork> gather_networks(const run::Machine& machine, const mpi::Communicator& world,
                                         bool ask);

/// The interfaces of a host that its settings leave: Open MPI looks at `include`, else at `exclude`. Pure.
std::vector<Interface> usable(const HostNetwork& host);

/// Between hosts: none left, or addresses that several hosts have, as those of container bridges, through
/// which MPI may wait for ever. Nothing for one host. Pure.
std::vector<Finding> judge_networks(const std::vector<HostNetwork>& hosts);

/// More ranks than cores on a host whose waiting ranks do not yield. Pure; `hosts` in the order of the nodes.
std::vector<Finding> judge_yielding(const run::Machine& machine, const std::vector<HostNetwork>& hosts);

}  // namespace convoke::doctor
