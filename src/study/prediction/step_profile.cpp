#include "convoke/study/prediction/step_profile.hpp"

#include <algorithm>

namespace convoke::study {

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
