#pragma once
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// A network interface that is up and has an IPv4 address.
struct Interface {
  std::string name = {};
  std::string address = {};  ///< "10.0.0.3"
  int prefix = 0;            ///< bits of its network
};

/// The interfaces that Open MPI's TCP transport may use on a host.
struct HostNetwork {
  std::string host = {};
  std::vector<Interface> interfaces = {};
  std::string include = {}, exclude = {};  ///< settings of MPI: names and networks, separated by commas
  bool yields = false;                     ///< waiting ranks give their core to others
};

/// The networks of every host, at the root. With `ask`, MPI is asked for the settings in its files, which
/// takes a quarter of a second; otherwise only the environment counts, which has the options of mpirun too.
/// Hosts with more ranks than cores always ask whether waiting ranks yield. Collective.
std::vector<HostNetwork> gather_networks(const run::Machine& machine, const mpi::Communicator& world,
                                         bool ask);

/// The interfaces that the settings of a host allow: Open MPI uses `include`, or else `exclude`. Pure.
std::vector<Interface> usable(const HostNetwork& host);

/// Finds hosts without an allowed interface, and addresses that several hosts share (as container bridges
/// do), on which MPI may wait for ever. Returns nothing for one host. Pure.
std::vector<Finding> check_networks(const std::vector<HostNetwork>& hosts);

/// Finds hosts with more ranks than cores whose waiting ranks do not yield. `hosts`: in the order of the
/// nodes. Pure.
std::vector<Finding> check_yielding(const run::Machine& machine, const std::vector<HostNetwork>& hosts);

}  // namespace convoke::doctor
