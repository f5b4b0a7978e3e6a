#include "convoke/study/prediction/step_prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "convoke/core/error.hpp"
#include "study/prediction/simulated_sum.hpp"

namespace convoke::study {
namespace {

double compute_seconds(const StepProfile& profile, std::int64_t micro_batches) {
  const auto found = std::ranges::find(profile.compute, micro_batches, &StepProfile::Compute::micro_batches);
  if (found == profile.compute.end()) {
    throw Error(fmt::format("the step of a rank with {} micro-batches was not measured", micro_batches));
  }
  return found->seconds;
}

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

// The average of the models of all ranks (engine::ModelAverage): sums in slices, one after another.
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
      const Participant me{world, group, rank, static_cast<int>(i)};
      all[rank].sums.push_back(
          std::make_unique<SliceSum>(me, *phases.back(), whole, profile.copy_seconds_per_byte));
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
  return world.time();
}

// Each rank makes its own steps and updates. The models are averaged after some of them.
void predict_average(const StepProfile& profile, const Cluster& cluster, StepPrediction& step) {
  step.compute_seconds += profile.update_seconds;
  const Averaging& averaging = *profile.averaging;
  if (averaging.every == 0 || averaging.sums == 0 || step.ranks == 1) return;
  const ExchangeTime time = average_models(profile, cluster, step.ranks);
  const auto steps = static_cast<double>(averaging.every);
  step.summing_seconds = time.handling_seconds / steps;
  step.exposed_seconds = std::max(0.0, time.end / steps - step.summing_seconds);
}

// The ranks of a node divide the update.
void predict_sum(const StepProfile& profile, const Cluster& cluster, StepPrediction& step) {
  const ExchangeTime time = sum_gradients(profile, cluster, step.ranks, step.compute_seconds);
  step.summing_seconds = time.handling_seconds;
  step.exposed_seconds = std::max(0.0, time.end - step.compute_seconds - step.summing_seconds);
  const int on_node = profile.shares_memory ? std::min(step.ranks, cluster.ranks_per_node) : 1;
  const int fewest = step.ranks % on_node == 0 ? on_node : step.ranks % on_node;
  step.compute_seconds += profile.update_seconds / fewest;
}

}  // namespace

StepPrediction predict_step(const StepProfile& profile, const Cluster& cluster, int ranks, Scaling scaling) {
  StepPrediction step{.ranks = ranks,
                      .micro_batches = busiest_micro_batches(profile.micro_batches, ranks, scaling)};
  step.compute_seconds = compute_seconds(profile, step.micro_batches);
  if (profile.averaging) {
    predict_average(profile, cluster, step);
  } else {
    predict_sum(profile, cluster, step);
  }
  const auto batch = static_cast<double>(profile.batch);
  step.images_per_second = batch * (scaling == Scaling::kWeak ? ranks : 1) / step.seconds();
  const double alone = compute_seconds(profile, profile.micro_batches) + profile.update_seconds;
  step.speedup = step.images_per_second / (batch / alone);
  step.efficiency = step.speedup / ranks;
  return step;
}

double StepProfile::scatter() const {
  double most = 0;
  for (const Compute& at : compute) most = std::max(most, at.scatter);
  return most;
}

StepProfile at_speed(StepProfile profile, double speed) {
  for (StepProfile::Compute& at : profile.compute) at.seconds /= speed;
  for (StepProfile::Report& at : profile.backward) at.seconds_before_end /= speed;
  profile.update_seconds /= speed;
  return profile;
}

std::int64_t busiest_micro_batches(std::int64_t micro_batches, int ranks, Scaling scaling) {
  return scaling == Scaling::kWeak ? micro_batches : (micro_batches + ranks - 1) / ranks;
}

std::vector<std::int64_t> needed_micro_batches(std::int64_t micro_batches, std::span<const int> ranks,
                                               Scaling scaling) {
  std::vector<std::int64_t> needed{micro_batches};
  for (const int count : ranks) needed.push_back(busiest_micro_batches(micro_batches, count, scaling));
  std::ranges::sort(needed);
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  return needed;
}

std::int64_t steps_to_average(const sync::Strategy& strategy, std::int64_t epoch) {
  constexpr std::int64_t kMost = 1'000'000;
  for (std::int64_t step = 1; step <= kMost; ++step) {
    if (strategy.averages_after(epoch, step)) return step;
  }
  return 0;
}

}  // namespace convoke::study
