#include "convoke/engine/load_balancer.hpp"

#include <algorithm>
#include <utility>

#include "convoke/mpi/together.hpp"

namespace convoke::engine {
namespace {

constexpr std::int64_t kLongestWindow = 256;
// Changing the shares costs the compilation of plans, and times scatter.
constexpr double kLeastGain = 0.05;
constexpr double kLeastSeconds = 1e-9;

}  // namespace

LoadBalancer::LoadBalancer(std::int64_t micro_batches, std::int64_t workers, const mpi::Communicator& group)
    : group_(group), workers_(workers) {
  const MicroBatchShares equal(group.size());
  for (int rank = 0; rank < group.size(); ++rank)
    counts_.push_back(equal.micro_batches(micro_batches, rank).count);
}

//   time of a micro_batch = (the one so far + mean over the window) / 2
void LoadBalancer::exchange(double micro_batch_seconds) {
  std::vector<RankSpeed> now =
      mpi::all_gather(group_, RankSpeed{std::max(micro_batch_seconds, kLeastSeconds), workers_});
  for (std::size_t rank = 0; rank < speeds_.size(); ++rank)
    now[rank].micro_batch_seconds = (now[rank].micro_batch_seconds + speeds_[rank].micro_batch_seconds) / 2;
  speeds_ = std::move(now);
}

std::optional<MicroBatchShares> LoadBalancer::after_step(double micro_batch_seconds) {
  if (std::exchange(first_, false)) return std::nullopt;
  seconds_ += micro_batch_seconds;
  if (++steps_ < window_) return std::nullopt;
  exchange(seconds_ / static_cast<double>(steps_));
  window_ = std::min(2 * window_, kLongestWindow);
  steps_ = 0;
  seconds_ = 0;

  std::int64_t micro_batches = 0;
  for (const std::int64_t count : counts_) micro_batches += count;
  std::vector<std::int64_t> better = divide_by_speed(micro_batches, speeds_);
  if (seconds_of(better, speeds_) > (1 - kLeastGain) * seconds_of(counts_, speeds_)) return std::nullopt;
  counts_ = std::move(better);
  first_ = true;
  return MicroBatchShares(counts_);
}

}  // namespace convoke::engine
