#include "convoke/engine/shares.hpp"

#include <algorithm>
#include <compare>
#include <queue>

#include "convoke/core/error.hpp"

namespace convoke::engine {

namespace {

constexpr std::size_t kCacheLineFloats = 16;

std::size_t cut(std::size_t size, int part, int parts) {
  return size * static_cast<std::size_t>(part) / static_cast<std::size_t>(parts);
}

}  // namespace

Range even_part(std::size_t size, int part, int parts) {
  return {cut(size, part, parts), cut(size, part + 1, parts)};
}

Range slice_of(std::size_t size, int part, int parts) {
  Range slice = even_part(size, part, parts);
  slice.begin -= slice.begin % kCacheLineFloats;
  if (part + 1 < parts) slice.end -= slice.end % kCacheLineFloats;
  return slice;
}

MicroBatchRange share_of(MicroBatchRange micro_batches, std::int64_t part, std::int64_t parts) {
  const std::int64_t begin = micro_batches.count * part / parts;
  const std::int64_t end = micro_batches.count * (part + 1) / parts;
  return {micro_batches.first + begin, end - begin};
}

NodeShare::NodeShare(std::size_t elements, int place, int leaders)
    : slice_(place < leaders ? slice_of(elements, place, leaders) : Range{}), added_(slice_.begin) {}

std::size_t NodeShare::bf16_elements(std::size_t of_all) const {
  return std::clamp(of_all, slice_.begin, slice_.end) - slice_.begin;
}

Range NodeShare::take(std::size_t complete) {
  const Range next{added_, std::max(added_, std::min(complete, slice_.end))};
  added_ = next.end;
  return next;
}

namespace {

double busy_seconds(std::int64_t micro_batches, const RankSpeed& rank) {
  return static_cast<double>((micro_batches + rank.workers - 1) / rank.workers) * rank.micro_batch_seconds;
}

}  // namespace

MicroBatchShares::MicroBatchShares(int ranks) : extra_(static_cast<std::size_t>(ranks) + 1) {}

MicroBatchShares::MicroBatchShares(std::span<const std::int64_t> counts) : extra_{0} {
  for (const std::int64_t count : counts) {
    ensure(count >= 1, "a rank has at least one micro-batch of a full step");
    extra_.push_back(extra_.back() + count - 1);
  }
}

//   equal shares:  first micro-batch of rank r = floor(micro-batches r / ranks)
//   otherwise:     first micro-batch of rank r = r + floor((micro-batches - ranks) extra_r / extra)
// In a full step, micro-batches - ranks = extra.
std::int64_t MicroBatchShares::begin(std::int64_t micro_batches, std::int64_t rank) const {
  const std::int64_t ranks = std::ssize(extra_) - 1;
  if (extra_.back() == 0 || micro_batches < ranks) return micro_batches * rank / ranks;
  return rank + (micro_batches - ranks) * extra_[static_cast<std::size_t>(rank)] / extra_.back();
}

MicroBatchRange MicroBatchShares::micro_batches(std::int64_t micro_batches, int rank) const {
  const std::int64_t first = begin(micro_batches, rank);
  return {first, begin(micro_batches, rank + 1) - first};
}

data::SampleRange MicroBatchShares::samples(std::int64_t samples, std::int64_t micro_batch, int rank) const {
  const MicroBatchRange mine = micro_batches((samples + micro_batch - 1) / micro_batch, rank);
  const std::int64_t first = std::min(mine.first * micro_batch, samples);
  return {first, std::min((mine.first + mine.count) * micro_batch, samples) - first};
}

double seconds_of(std::span<const std::int64_t> counts, std::span<const RankSpeed> ranks) {
  double most = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    most = std::max(most, busy_seconds(counts[rank], ranks[rank]));
  return most;
}

std::vector<std::int64_t> divide_by_speed(std::int64_t micro_batches, std::span<const RankSpeed> ranks) {
  ensure(micro_batches >= std::ssize(ranks), "each rank gets at least one micro-batch");
  // A rank with one micro-batch more. Among ranks with workers to spare, the micro-batch goes to the least
  // busy one.
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
    return Candidate{busy_seconds(count, speed), load * speed.micro_batch_seconds, rank};
  };
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> next;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) next.push(candidate(rank));
  for (std::int64_t micro_batch = std::ssize(ranks); micro_batch < micro_batches; ++micro_batch) {
    const std::size_t rank = next.top().rank;
    next.pop();
    ++counts[rank];
    next.push(candidate(rank));
  }
  return counts;
}

}  // namespace convoke::engine
