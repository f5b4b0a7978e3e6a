#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convoke/engine/model_memory.hpp"
#include "convoke/engine/shares.hpp"
#include "convoke/mpi/communicator.hpp"

namespace convoke::engine {

/// The micro-batches of a step that no worker of a node has begun. Each worker begins with its equal
/// share, from the front. A worker that has nothing left takes the last micro-batch of the worker that has
/// most left (work stealing). So no worker waits for one whose core another program uses. Each
/// micro-batch is given out once. Each rank has its own object; the micro-batches themselves are in
/// ModelMemory::waiting().
class WorkQueue {
 public:
  /// `own_rank_only`: micro-batches stay on the rank that has their samples, and only its threads share them.
  /// Collective over the node. All arguments must outlive it.
  WorkQueue(const ModelMemory& memory, const mpi::Communicator& group, bool own_rank_only);

  /// True if there are several workers that can share the micro-batches of such a step.
  bool shares(std::int64_t micro_batches) const;
  /// Begins a step of `micro_batches` micro-batches on this rank, before its workers start. Each rank calls
  /// it for the same steps. Other ranks may already be in the step, but none is still in the one before.
  void begin_step(std::int64_t micro_batches, const MicroBatchShares& shares);

  /// Takes the next `micro_batches` micro-batches of worker `worker` of this rank; false if fewer are left to
  /// it.
  bool take(int worker, std::int64_t micro_batches);
  /// Takes the last micro-batch of the worker that has most left; none if all micro-batches are given out.
  std::optional<std::int64_t> take_last();
  /// True if all micro-batches are given out. It stays true until the next step.
  bool empty() const;
  /// Call it when worker `worker` of this rank has computed its micro-batches.
  void end(int worker);

  /// True if a worker was a quarter slower than another one in a recent step. Workers then compute their
  /// micro-batches one by one, because other workers cannot take micro-batches of a plan that runs. They also
  /// give up the rest of their time slice before they take one. A worker that has to wait for its core then
  /// holds no micro-batch that a free worker could compute, and has a whole slice for the next one.
  bool one_by_one() const { return steps_one_by_one_ > 0; }

 private:
  struct Rest {
    std::uint64_t word = 0;  ///< as it was read
    std::int64_t first = 0, count = 0;
  };
  Rest rest(std::size_t worker) const;
  bool replace(std::size_t worker, const Rest& seen, std::int64_t first, std::int64_t count);
  bool uneven() const;
  void give_up_slice() const;

  std::span<WaitingMicroBatches> waiting_;  ///< by worker: of the node, or of this rank
  std::size_t mine_ = 0;                    ///< first worker of this rank in it
  std::vector<int> ranks_;                  ///< by worker: its rank in the group
  std::vector<MicroBatchRange> in_rank_;  ///< by worker: its number in its rank, and the workers of that rank
  std::vector<MicroBatchRange> given_;    ///< by worker: its share of this step
  std::uint64_t step_ = 0;                ///< steps so far
  std::int64_t steps_one_by_one_ = 0;     ///< that remain
  double began_ = 0;                      ///< time of the step on this rank
};

}  // namespace convoke::engine
