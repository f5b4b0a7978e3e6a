#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convoke/engine/state_array.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/mpi/shared_memory.hpp"
#include "convoke/os/waiting.hpp"

namespace convoke::engine {

/// Number of elements of a worker's sums that are final. One worker writes it, and the workers of all ranks
/// of a node read it. It increases from step to step and is never reset, so no worker waits for a reset.
class alignas(64) Completion {
 public:
  void publish(std::uint64_t count) { count_.store(count, std::memory_order_release); }
  std::uint64_t count() const { return count_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> count_{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share it");

/// The micro-batches of a worker that no worker has begun, and the time at which this worker ended its
/// last ones; see WorkQueue.
struct alignas(64) WaitingMicroBatches {
  std::atomic<std::uint64_t> word{0};
  std::atomic<double> ended{0};
};

/// The arrays into which a worker sums its micro-batches: gradients and metrics.
struct WorkerSums {
  std::span<float> floats;
  std::span<std::int64_t> fixed;  ///< empty unless exact
  Completion* completion = nullptr;
};

/// The memory of one model on a node. The ranks of a group that run on the node share one copy of the
/// parameters, of the optimizer's state and of their average, and see the sums of each other's workers.
class ModelMemory {
 public:
  /// Numbers of elements.
  struct Sizes {
    std::size_t parameters = 0;
    std::size_t trainable = 0;  ///< of one state slot of the optimizer
    std::size_t slots = 0;      ///< state slots
    bool half_states = false;   ///< they are in bf16
    bool average = false;       ///< there is a moving average of the parameters
    std::size_t sums = 0;       ///< of the sums of one worker
    bool exact = false;         ///< there are sums in fixed point as well
    std::size_t blocks = 0;     ///< see BlockSums
  };
  /// Sums over a block of parameters that an update computes, see Update.
  struct BlockSums {
    double penalty = 0, squares = 0;
  };

  /// Memory for `workers` workers of this rank, filled with zeros except the sums. `node`: the ranks that
  /// share it; the constructor is collective over them. Throws Error on all of them if the memory cannot be
  /// shared.
  ModelMemory(const mpi::Communicator& node, const Sizes& sizes, int workers);

  const mpi::Communicator& node() const { return node_; }
  int workers() const { return first_worker_.back(); }             ///< of all ranks
  int first_worker() const { return first_worker(node_.rank()); }  ///< of this rank
  int first_worker(int rank) const { return first_worker_[static_cast<std::size_t>(rank)]; }

  std::span<float> parameters() const { return parameters_; }
  StateArray state(std::size_t slot) const { return states_[slot]; }
  std::span<float> average() const { return average_; }
  std::span<BlockSums> blocks() const { return blocks_; }
  std::span<WaitingMicroBatches> waiting() const { return waiting_; }  ///< by worker
  const WorkerSums& sums(int worker) const { return sums_[static_cast<std::size_t>(worker)]; }

  /// Returns when all ranks have called it; everything that they wrote before is then visible.
  void barrier();

 private:
  /// Counts the ranks that have arrived; the last one starts the next round.
  struct Barrier {
    alignas(64) std::atomic<std::uint32_t> arrived{0};
    os::EventCount rounds;
  };
  std::size_t place_arrays(const Sizes& sizes, std::byte* memory);

  mpi::Communicator node_;
  std::vector<int> first_worker_;  ///< by rank, and the number of all workers
  std::optional<mpi::SharedMemory> memory_;
  Barrier* barrier_ = nullptr;
  std::span<float> parameters_, average_;
  std::vector<StateArray> states_;
  std::span<BlockSums> blocks_;
  std::span<WaitingMicroBatches> waiting_;
  std::vector<WorkerSums> sums_;  ///< by worker
};

}  // namespace convoke::engine
