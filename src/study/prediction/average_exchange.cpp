#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "study/prediction/exchange.hpp"
#include "study/prediction/slice_sum.hpp"

namespace convoke::study {
namespace {

std::vector<int> first_ranks(int count) {
  std::vector<int> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

class AverageExchange {
 public:
  AverageExchange(const StepProfile& profile, const Cluster& cluster, int ranks);

  ExchangeTime run();

 private:
  struct Rank {
    std::vector<std::unique_ptr<SliceSum>> sums;
    std::size_t done = 0;   ///< sums
    bool combined = false;  ///< the second phase of the current sum has begun
  };
  void advance(int rank);

  double copy_seconds_;  ///< from the model to a sum, and back
  SimulatedWorld world_;
  PeerGroup group_;
  std::vector<std::unique_ptr<SliceSumPhases>> phases_;  ///< by sum
  std::vector<Rank> ranks_;
};

AverageExchange::AverageExchange(const StepProfile& profile, const Cluster& cluster, int ranks)
    : copy_seconds_(2 * profile.copy_seconds_per_byte *
                    static_cast<double>(profile.averaging->floats * sizeof(float))),
      world_(cluster, ranks),
      group_(world_, first_ranks(ranks)),
      ranks_(static_cast<std::size_t>(ranks)) {
  const sync::Bucket all{.begin = 0, .end = profile.averaging->floats};
  for (std::size_t i = 0; i < profile.averaging->sums; ++i) {
    phases_.push_back(std::make_unique<SliceSumPhases>(group_.size()));
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank].sums.push_back(std::make_unique<SliceSum>(
          world_, group_, rank, *phases_.back(), all, static_cast<int>(i), profile.copy_seconds_per_byte));
    }
  }
}

ExchangeTime AverageExchange::run() {
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
    ranks_[static_cast<std::size_t>(rank)].sums.front()->start();
  }
  world_.run([this](const SimulatedWorld::Wakeup& wakeup) {
    Core& core = world_.core(wakeup.rank);
    core.now = std::max(core.now, wakeup.time);
    advance(wakeup.rank);
  });
  return {world_.end(), world_.handling_seconds()};
}

void AverageExchange::advance(int rank) {
  Rank& mine = ranks_[static_cast<std::size_t>(rank)];
  while (mine.done < mine.sums.size()) {
    SliceSum& sum = *mine.sums[mine.done];
    mine.combined = mine.combined || sum.combine(false);
    if (!mine.combined || !sum.finish(false)) return;
    world_.core(rank).spend(copy_seconds_);
    mine.combined = false;
    if (++mine.done < mine.sums.size()) mine.sums[mine.done]->start();
  }
}

}  // namespace

ExchangeTime average_models(const StepProfile& profile, const Cluster& cluster, int ranks) {
  return AverageExchange(profile, cluster, ranks).run();
}

}  // namespace convoke::study
