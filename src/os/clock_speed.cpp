#include "convoke/os/clock_speed.hpp"

#include <algorithm>
#include <cstdint>

#include "convoke/os/clock.hpp"

namespace convoke::os {

// x <- x ^ x << 13;  x <- x ^ x >> 7;  x <- x ^ x << 17       (Marsaglia 2003)
// Six operations of one cycle each; none can start before the previous one has ended.
double measure_clock_ghz(int rounds) {
  constexpr int kTrials = 5;
  constexpr double kCyclesPerRound = 6;
  volatile std::uint64_t sink = 88172645463325252;
  double best = 0;
  for (int trial = 0; trial < kTrials; ++trial) {  // the fastest trial, since others may be interrupted
    const Stopwatch watch;
    std::uint64_t x = sink;
    for (int round = 0; round < rounds; ++round) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
    }
    sink = x;
    best = std::max(best, kCyclesPerRound * rounds / watch.seconds() / 1e9);
  }
  return best;
}

}  // namespace convoke::os
