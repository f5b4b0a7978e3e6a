#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/data/read_ahead.hpp"
#include "convoke/engine/segments.hpp"

namespace convoke::engine {

/// How the micro-batches of a step are divided among the ranks of a group. Each rank gets a
/// contiguous range, in the order of the ranks.
class MicroBatchShares {
 public:
  /// Equal shares: they differ by at most one micro-batch.
  explicit MicroBatchShares(int ranks);
  /// `counts`: the micro-batches of each rank in a full step, at least one. A smaller step is divided in
  /// about the same proportions. If it has at least as many micro-batches as ranks, each rank gets at least
  /// one micro-batch.
  explicit MicroBatchShares(std::span<const std::int64_t> counts);

  /// Returns the share of `rank` in a step of `micro_batches` micro-batches.
  MicroBatchRange micro_batches(std::int64_t micro_batches, int rank) const;
  /// Returns the samples of `rank` in a step of `samples` samples, in micro-batches of `micro_batch` samples;
  /// the last micro-batch may have fewer.
  data::SampleRange samples(std::int64_t samples, std::int64_t micro_batch, int rank) const;

  friend bool operator==(const MicroBatchShares&, const MicroBatchShares&) = default;

 private:
  std::int64_t begin(std::int64_t micro_batches, std::int64_t rank) const;

  /// By rank: what the ranks before it have beyond one micro-batch each; the last entry is the sum. All 0:
  /// equal shares.
  std::vector<std::int64_t> extra_;
};

/// The measured speed of a rank.
struct RankSpeed {
  double micro_batch_seconds = 0;  ///< time in which a worker computes a micro-batch, > 0
  std::int64_t workers = 1;
};

/// Returns the time in which all ranks have computed their micro-batches: a rank with w workers needs the
/// time of ceil(counts[rank] / w) micro-batches.
double seconds_of(std::span<const std::int64_t> counts, std::span<const RankSpeed> ranks);

/// Returns the number of micro-batches of each rank for which seconds_of() is smallest. Each rank gets at
/// least one; `micro_batches` must be at least the number of ranks. One micro-batch after the other goes to
/// the rank that would finish it first, which is optimal for equal tasks (Graham, Lawler, Lenstra, Rinnooy
/// Kan, "Optimization and approximation in deterministic sequencing and scheduling", 1979). Equal arguments
/// give equal results on all ranks.
std::vector<std::int64_t> divide_by_speed(std::int64_t micro_batches, std::span<const RankSpeed> ranks);

}  // namespace convoke::engine
