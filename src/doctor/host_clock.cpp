#include "convoke/doctor/host_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "doctor/evidence.hpp"

namespace convoke::doctor {
namespace {

constexpr int kRounds = 20;

}  // namespace

std::vector<ClockOffset> measure_clock_offsets(const run::Machine& machine, const mpi::Communicator& world,
                                               const Clock& clock) {
  std::vector<ClockOffset> offsets;
  for (const int rank : nodes_of(machine.placements)) {
    if (rank == 0) continue;
    const run::Placement& there = of_rank(machine.placements, rank);
    double theirs = 0;
    const auto bytes = std::as_writable_bytes(std::span(&theirs, 1));
    if (world.rank() == rank) {
      for (int round = 0; round < kRounds; ++round) {
        world.receive(bytes, 0, mpi::Tag::kHostClock);
        theirs = clock();
        world.send(bytes, 0, mpi::Tag::kHostClock);
      }
    } else if (world.root()) {
      // The other clock was read between sending and receiving: in the middle, plus or minus half a round
      // trip.
      ClockOffset best{.host = there.host, .uncertainty = std::numeric_limits<double>::infinity()};
      for (int round = 0; round < kRounds; ++round) {
        const double sent = clock();
        world.send(bytes, rank, mpi::Tag::kHostClock);
        world.receive(bytes, rank, mpi::Tag::kHostClock);
        const double half = (clock() - sent) / 2;
        if (half >= best.uncertainty) continue;
        best.uncertainty = half;
        best.seconds = theirs - (sent + half);
      }
      offsets.push_back(best);
    }
  }
  return offsets;
}

std::vector<Finding> check_clock_offsets(const std::vector<ClockOffset>& offsets) {
  constexpr double kMatters = 1, kNotable = 0.1;  // seconds
  std::vector<Finding> found;
  double most = 0;
  for (const ClockOffset& offset : offsets) {
    most = std::max(most, std::abs(offset.seconds));
    if (std::abs(offset.seconds) - offset.uncertainty < kNotable) continue;
    found.push_back(
        {std::abs(offset.seconds) >= kMatters ? Severity::kWarning : Severity::kNote, "host clock",
         fmt::format("{}: its clock is {:.1f} s {} that of rank 0, so times of files and log "
                     "lines cannot be compared",
                     offset.host, std::abs(offset.seconds), offset.seconds > 0 ? "ahead of" : "behind"),
         "set the clocks with chrony or ntpd: chronyc -a makestep (as root, on that host)"});
  }
  if (found.empty() && !offsets.empty()) {
    found.push_back(
        ok("host clock", fmt::format("all clocks are within {:.2f} ms of that of rank 0", most * 1e3)));
  }
  return found;
}

}  // namespace convoke::doctor
