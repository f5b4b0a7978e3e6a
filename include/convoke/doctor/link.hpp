#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

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
