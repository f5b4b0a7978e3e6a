#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "study/prediction/exchange.hpp"
#include "study/prediction/slice_sum.hpp"

namespace convoke::study {
namespace {

/// The sums of a rank, one after another.
struct Rank {
  std::vector<std::unique_ptr<SliceSum>> sums;
  std::size_t done = 0;   ///< sums
  bool combined = false;  ///< the second phase of the current sum has begun
};

// `copy_seconds`: from the model to a sum, and back.
void advance(Rank& rank, Core& core, double copy_seconds) {
  while (rank.done < rank.sums.size()) {
    SliceSum& sum = *rank.sums[rank.done];
    rank.combined = rank.combined || sum.combine(false);
    if (!rank.combined || !sum.finish(false)) return;
    core.spend(copy_seconds);
    rank.combined = false;
    if (++rank.done < rank.sums.size()) rank.sums[rank.done]->start();
  }
}

}  // namespace

ExchangeTime average_models(const StepProfile& profile, const Cluster& cluster, int ranks) {
  const Averaging& averaging = *profile.averaging;
  SimulatedWorld world(cluster, ranks);
  std::vector<int> members(static_cast<std::size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  const PeerGroup group(world, std::move(members));
  const sync::Bucket whole{.begin = 0, .end = averaging.floats};
  std::vector<std::unique_ptr<SliceSumPhases>> phases;  // by sum
  std::vector<Rank> all(group.size());
  for (std::size_t i = 0; i < averaging.sums; ++i) {
    phases.push_back(std::make_unique<SliceSumPhases>(group.size()));
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      all[rank].sums.push_back(std::make_unique<SliceSum>(
          world, group, rank, *phases.back(), whole, static_cast<int>(i), profile.copy_seconds_per_byte));
    }
  }
  for (const Rank& rank : all) rank.sums.front()->start();
  const double copy_seconds =
      2 * profile.copy_seconds_per_byte * static_cast<double>(averaging.floats * sizeof(float));
  world.run([&](const SimulatedWorld::Wakeup& wakeup) {
    Core& core = world.core(wakeup.rank);
    core.now = std::max(core.now, wakeup.time);
    advance(all[static_cast<std::size_t>(wakeup.rank)], core, copy_seconds);
  });
  return {world.end(), world.handling_seconds()};
}

}  // namespace convoke::study
