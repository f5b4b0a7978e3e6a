#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/data/read_ahead.hpp"

namespace convoke::engine {

/// Elements [begin, end) of an array.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
};

/// Returns part `part` of [0, size) in whole cache lines of floats, so that threads do not share one.
Range slice_of(std::size_t size, int part, int parts);

/// Returns part `part` of [0, size); the sizes of parts differ by at most one.
Range even_part(std::size_t size, int part, int parts);

/// Consecutive micro-batches of a step: [first, first + count).
struct MicroBatchRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Returns the share of part `part` when `micro_batches` are divided into `parts` ranges whose sizes differ
/// by at most one.
MicroBatchRange share_of(MicroBatchRange micro_batches, std::int64_t part, std::int64_t parts);

/// The place of a rank among the nodes of its group. Ranks that share no memory count as nodes.
struct NodePlace {
  int nodes = 1;
  int leaders = 1;  ///< ranks of each node that exchange with other nodes
  int rank = 0;     ///< on its node; those from `leaders` on exchange nothing
};

/// The slice of a node's sums that a rank adds and exchanges with other nodes, and how much of it is added.
/// Some ranks of each node, its leaders, have a slice each; every node has as many leaders, so that the
/// leaders with the same number exchange the same slice. Knows only sizes, so a simulation uses it, too.
class NodeShare {
 public:
  NodeShare() = default;
  /// `elements`: of the sums; `place`: of this rank on its node. The slice is empty from `leaders` on.
  NodeShare(std::size_t elements, int place, int leaders);

  Range slice() const { return slice_; }
  /// Returns how many elements of the slice, from its first on, are among the first `of_all` of the sums.
  std::size_t bf16_elements(std::size_t of_all) const;

  void begin_step() { added_ = slice_.begin; }
  /// Returns the elements to add next, if all workers of the node have completed elements [0, complete) of
  /// their sums.
  Range take(std::size_t complete);
  /// Number of elements of the slice, from its first on, that are added.
  std::size_t ready() const { return added_ - slice_.begin; }
  bool done() const { return added_ >= slice_.end; }

 private:
  Range slice_;
  std::size_t added_ = 0;  ///< end of the elements that are added
};

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
