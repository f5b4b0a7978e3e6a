#pragma once
#include <cstdint>

#include "convoke/mpi/communicator.hpp"

namespace convoke::mpi {

/// One comparison of this rank's clock (clock_now) with that of rank 0, in nanoseconds.
struct ClockReading {
  std::int64_t here = 0;         ///< by this rank's clock
  std::int64_t offset = 0;       ///< rank 0's clock minus this one, at that moment
  std::int64_t uncertainty = 0;  ///< half of the smallest round trip: the offset is off by no more
};

/// Compares the clocks of all ranks with that of rank 0, one rank after the other, by messages that rank 0
/// returns with its time: offset = its time - the middle of the round trip. Of 16 round trips the shortest
/// counts (Cristian, "Probabilistic clock synchronization", 1989). Collective.
ClockReading read_root_clock(const Communicator& world);

/// Converts times of this rank into times of rank 0, along the line through two comparisons, because clocks
/// run at different rates.
class RootClock {
 public:
  RootClock(const ClockReading& first, const ClockReading& last) : first_(first), last_(last) {}

  /// Returns the time by rank 0's clock at the time `here` by this rank's, in nanoseconds.
  std::int64_t at_root(std::int64_t here) const;

 private:
  ClockReading first_, last_;
};

}  // namespace convoke::mpi
