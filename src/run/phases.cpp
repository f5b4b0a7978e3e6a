#include "convoke/run/phases.hpp"

#include <array>
#include <span>

#include "convoke/mpi/together.hpp"

namespace convoke::run {

RankTimes times_of(const Phases& phases) {
  const Timeline& timeline = *phases.timeline;
  return {.load = timeline.seconds(Activity::kLoad),
          .steps = timeline.seconds(Activity::kStep),
          .data = timeline.seconds(Activity::kData),
          .update = timeline.seconds(Activity::kUpdate),
          .exposed_communication = timeline.seconds(Activity::kExchange),
          .evaluation = timeline.seconds(Activity::kEvaluation),
          .gather = timeline.seconds(Activity::kGather),
          .checkpoint = timeline.seconds(Activity::kCheckpoint),
          .core_share = phases.timeline->main().core_share(),
          .first_step = phases.first_step,
          .samples = static_cast<double>(phases.samples),
          .clock_ghz = phases.clock_ghz};
}

double exposed_share(std::span<const RankTimes> ranks) {
  double steps = 0, exposed = 0;
  for (const RankTimes& rank : ranks) {
    steps += rank.steps;
    exposed += rank.exposed_communication;
  }
  return steps > 0 ? exposed / steps : 0;
}

FeatureUse sum_over_ranks(const FeatureUse& mine, double seconds, const mpi::Communicator& world) {
  std::array<std::int64_t, 4> sums{mine.computed, mine.read, mine.bytes, mine.file_bytes};
  world.sum(sums);
  return {sums[0], sums[1], sums[2], sums[3], mpi::max_of(world, seconds)};
}

CheckpointUse sum_over_ranks(const CheckpointUse& mine, const mpi::Communicator& world) {
  std::array<std::int64_t, 4> sums{mine.written, mine.left_out, mine.failed, mine.in_fallback};
  std::array<double, 2> longest{mine.longest_wait, mine.longest_writing};
  world.sum(sums);
  world.max(longest);
  return {sums[0], sums[1], sums[2], sums[3], longest[0], longest[1]};
}

}  // namespace convoke::run
