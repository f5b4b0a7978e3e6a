#pragma once
#include <functional>
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// How far the clock of a host is ahead of that of rank 0's.
struct ClockOffset {
  std::string host = {};
  double seconds = 0;
  double uncertainty = 0;  ///< half of the shortest round trip
};

/// Seconds since some moment that is the same on all hosts if their clocks are right.
using Clock = std::function<double()>;
double system_clock_seconds();

/// Of the first ranks of all hosts but rank 0's, at the root; from the shortest of several round trips
/// (Cristian, "Probabilistic clock synchronization", 1989). Collective.
std::vector<ClockOffset> measure_clock_offsets(const run::Machine& machine, const mpi::Communicator& world,
                                               const Clock& clock = system_clock_seconds);

/// Pure.
std::vector<Finding> judge_clock_offsets(const std::vector<ClockOffset>& offsets);

}  // namespace convoke::doctor
