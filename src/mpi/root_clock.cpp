#include "convoke/mpi/root_clock.hpp"

#include <cmath>
#include <limits>
#include <span>

#include "convoke/core/timeline.hpp"

namespace convoke::mpi {
namespace {

constexpr int kRoundTrips = 16;

void answer(int rank, const Communicator& world) {
  for (int i = 0; i < kRoundTrips; ++i) {
    std::int64_t time = 0;
    world.receive(std::as_writable_bytes(std::span(&time, 1)), rank, Tag::kRootClock);
    time = clock_now();
    world.send(std::as_bytes(std::span(&time, 1)), rank, Tag::kRootClock);
  }
}

ClockReading ask(const Communicator& world) {
  ClockReading best{.uncertainty = std::numeric_limits<std::int64_t>::max()};
  for (int i = 0; i < kRoundTrips; ++i) {
    std::int64_t time = 0;
    const std::int64_t sent = clock_now();
    world.send(std::as_bytes(std::span(&time, 1)), 0, Tag::kRootClock);
    world.receive(std::as_writable_bytes(std::span(&time, 1)), 0, Tag::kRootClock);
    const std::int64_t half = (clock_now() - sent + 1) / 2;
    if (half < best.uncertainty) best = {sent + half, time - (sent + half), half};
  }
  return best;
}

}  // namespace

ClockReading read_root_clock(const Communicator& world) {
  ClockReading mine{.here = clock_now()};
  for (int rank = 1; rank < world.size(); ++rank) {
    if (world.root()) answer(rank, world);
    if (world.rank() == rank) mine = ask(world);
  }
  return mine;
}

std::int64_t RootClock::at_root(std::int64_t here) const {
  if (last_.here <= first_.here) return here + first_.offset;
  const double share =
      static_cast<double>(here - first_.here) / static_cast<double>(last_.here - first_.here);
  return here + first_.offset + std::llround(share * static_cast<double>(last_.offset - first_.offset));
}

}  // namespace convoke::mpi
