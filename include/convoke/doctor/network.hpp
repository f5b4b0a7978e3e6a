#pragma once
#include <cstdint>
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

/// The measured time of messages between two ranks.
struct Link {
  std::string from = {}, to = {};  ///< hosts; equal within one
  double latency_seconds = 0;      ///< one way, 8 bytes, median
  double bytes_per_second = 0;     ///< one way, messages of 1 MiB in both directions, median
  bool within() const { return from == to; }
};

/// Measures messages from the first rank of each host to its second, and from rank 0 to the first rank of
/// every other host (at most 32 hosts). The result is at the root. Collective.
std::vector<Link> measure_links(const run::Machine& machine, const mpi::Communicator& world);

/// Finds slow links. `gradient`: bytes that the ranks sum in every step; 0: unknown or none. Pure.
std::vector<Finding> check_links(const std::vector<Link>& links, std::uint64_t gradient);

}  // namespace convoke::doctor
