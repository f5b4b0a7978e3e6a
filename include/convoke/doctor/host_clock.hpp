#pragma once
#include <functional>
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// How far the clock of a host is ahead of the clock of rank 0's host.
struct ClockOffset {
  std::string host = {};
  double seconds = 0;
  double uncertainty = 0;  ///< half of the shortest round trip
};

/// Seconds since a moment that is the same on all hosts whose clocks are right.
using Clock = std::function<double()>;

/// Measures the offsets of all hosts except that of rank 0, from the shortest of several round trips
/// (Cristian, "Probabilistic clock synchronization", 1989). The result is at the root. Collective.
std::vector<ClockOffset> measure_clock_offsets(const run::Machine& machine, const mpi::Communicator& world,
                                               const Clock& clock = os::seconds_since_1970);

/// Finds clocks that are wrong by 0.1 s or more. Pure.
std::vector<Finding> check_clock_offsets(const std::vector<ClockOffset>& offsets);

}  // namespace convoke::doctor
