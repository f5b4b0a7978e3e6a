#include "convoke/engine/lane_shares.hpp"

#include <algorithm>
#include <compare>
#include <queue>

#include "convoke/core/error.hpp"

namespace convoke::engine {
namespace {

double busy_seconds(std::int64_t lanes, const RankSpeed& rank) {
  return static_cast<double>((lanes + rank.workers - 1) / rank.workers) * rank.lane_seconds;
}

}  // namespace

LaneShares::LaneShares(int ranks) : extra_(static_cast<std::size_t>(ranks) + 1) {}

LaneShares::LaneShares(std::span<const std::int64_t> counts) : extra_{0} {
  for (const std::int64_t count : counts) {
    ensure(count >= 1, "a rank has at least one lane of a full step");
    extra_.push_back(extra_.back() + count - 1);
  }
}

//   equal shares:  first lane of rank r = floor(lanes r / ranks)
//   otherwise:     first lane of rank r = r + floor((lanes - ranks) extra_r / extra)
// In a full step, lanes - ranks = extra.
std::int64_t LaneShares::begin(std::int64_t lanes, std::int64_t rank) const {
  const std::int64_t ranks = std::ssize(extra_) - 1;
  if (extra_.back() == 0 || lanes < ranks) return lanes * rank / ranks;
  return rank + (lanes - ranks) * extra_[static_cast<std::size_t>(rank)] / extra_.back();
}

LaneRange LaneShares::lanes(std::int64_t lanes, int rank) const {
  const std::int64_t first = begin(lanes, rank);
  return {first, begin(lanes, rank + 1) - first};
}

data::SampleRange LaneShares::samples(std::int64_t samples, std::int64_t lane, int rank) const {
  const LaneRange mine = lanes((samples + lane - 1) / lane, rank);
  const std::int64_t first = std::min(mine.first * lane, samples);
  return {first, std::min((mine.first + mine.count) * lane, samples) - first};
}

double seconds_of(std::span<const std::int64_t> counts, std::span<const RankSpeed> ranks) {
  double most = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    most = std::max(most, busy_seconds(counts[rank], ranks[rank]));
  return most;
}

std::vector<std::int64_t> divide_by_speed(std::int64_t lanes, std::span<const RankSpeed> ranks) {
  ensure(lanes >= std::ssize(ranks), "each rank gets at least one lane");
  // A rank with one lane more. Among ranks with workers to spare, the lane goes to the least busy one.
  struct Candidate {
    double end, load;
    std::size_t rank;
    auto operator<=>(const Candidate&) const = default;
  };
  std::vector<std::int64_t> counts(ranks.size(), 1);
  const auto candidate = [&](std::size_t rank) {
    const std::int64_t count = counts[rank] + 1;
    const RankSpeed& speed = ranks[rank];
    const double load = static_cast<double>(count) / static_cast<double>(speed.workers);
    return Candidate{busy_seconds(count, speed), load * speed.lane_seconds, rank};
  };
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> next;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) next.push(candidate(rank));
  for (std::int64_t lane = std::ssize(ranks); lane < lanes; ++lane) {
    const std::size_t rank = next.top().rank;
    next.pop();
    ++counts[rank];
    next.push(candidate(rank));
  }
  return counts;
}

}  // namespace convoke::engine
