#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convoke/engine/lane_shares.hpp"
#include "convoke/engine/model_memory.hpp"
#include "convoke/mpi/communicator.hpp"

namespace convoke::engine {

/// The lanes (micro-batches) of a step that no worker of a node has begun. Each worker begins with its equal
/// share, from the front. A worker that has nothing left takes the last lane of the worker that has most left
/// (work stealing), so that nobody waits for a worker whose core another program uses. Each lane is given out
/// once. Each rank has its own object; the lanes themselves are in ModelMemory::waiting().
class LaneQueue {
 public:
  /// `own_rank_only`: lanes stay on the rank that has their samples, and only its threads share them.
  /// Collective over the node. All arguments must outlive it.
  LaneQueue(const ModelMemory& memory, const mpi::Communicator& group, bool own_rank_only);

  /// True if there are several workers that can share the lanes of such a step.
  bool shares(std::int64_t lanes) const;
  /// Begins a step of `lanes` lanes on this rank, before its workers start. Each rank calls it for the same
  /// steps. Other ranks may already be in the step, but none is still in the one before.
  void begin_step(std::int64_t lanes, const LaneShares& shares);

  /// Takes the next `lanes` lanes of worker `worker` of this rank; false if fewer are left to it.
  bool take(int worker, std::int64_t lanes);
  /// Takes the last lane of the worker that has most left; none if all lanes are given out.
  std::optional<std::int64_t> take_last();
  /// True if all lanes are given out. It stays true until the next step.
  bool empty() const;
  /// Call it when worker `worker` of this rank has computed its lanes.
  void end(int worker);

  /// True if a worker was a quarter slower than another one in a recent step. Workers then compute their
  /// lanes one by one, because nobody can take lanes of a plan that runs.
  bool one_by_one() const { return steps_one_by_one_ > 0; }

 private:
  struct Rest {
    std::uint64_t word = 0;  ///< as it was read
    std::int64_t first = 0, count = 0;
  };
  Rest rest(std::size_t worker) const;
  bool replace(std::size_t worker, const Rest& seen, std::int64_t first, std::int64_t count);
  bool uneven() const;

  std::span<WaitingLanes> waiting_;    ///< by worker: of the node, or of this rank
  std::size_t mine_ = 0;               ///< first worker of this rank in it
  std::vector<int> ranks_;             ///< by worker: its rank in the group
  std::vector<LaneRange> in_rank_;     ///< by worker: its number in its rank, and the workers of that rank
  std::vector<LaneRange> given_;       ///< by worker: its share of this step
  std::uint64_t step_ = 0;             ///< steps so far
  std::int64_t steps_one_by_one_ = 0;  ///< that remain
  double began_ = 0;                   ///< time of the step on this rank
};

}  // namespace convoke::engine
