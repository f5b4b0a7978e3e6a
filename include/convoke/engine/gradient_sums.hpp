#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>

#include "convoke/engine/model_memory.hpp"
#include "convoke/engine/shares.hpp"
#include "convoke/engine/worker_team.hpp"
#include "convoke/os/thread.hpp"
#include "convoke/sync/allreduce.hpp"

namespace convoke::engine {

/// Returns the place of this rank in `group`; `node`: the ranks that share memory with it. Collective over
/// `group`.
NodePlace node_place(const mpi::Communicator& node, const mpi::Communicator& group);

/// Sums what the workers of a group have summed over their micro-batches: within a node in its
/// memory, between nodes through MPI. On a group of several nodes, some ranks of each node, its leaders,
/// have a slice of the sums each, and send it while backward computes the rest; the ranks with the same
/// number on all nodes exchange the same slice. On one node, all workers add at the end, each a slice: there
/// is nothing to hide.
///
/// A thread makes progress on a large exchange while the rank computes. An MPI library moves data only within
/// its calls, and a socket takes a few MB at a time. A primitive of a large network takes 100 ms, in which a
/// link of 1 Gbit/s sends 12 MB. The thread sleeps most of the time. It calls MPI between begin_step() and
/// finish() alone.
///
/// Measured (apps/bench/exchange_over_links.sh, two hosts, 1 Gbit/s, AMD EPYC; images/s, exposed ms):
/// VGG-16 2.31, 4170 without and 2.73, 2819 with it; in bf16 3.42, 1812 and 4.52, 426; ResNet-50, whose
/// primitives are short, 9.4 and 9.5.
class GradientSums {
 public:
  /// Collective over `group`; `memory` and `team` must outlive this object. `bf16_elements`: the first so
  /// many elements may be sent as bf16. If anything else calls MPI during backward,
  /// options.progress_thread_bytes must be none.
  GradientSums(ModelMemory& memory, NodeTeam& team, const mpi::Communicator& group, std::size_t bf16_elements,
               const sync::ExchangeOptions& options);

  void begin_step();
  /// Passes on what all workers of the node have completed, and makes progress. The driver of a rank, its
  /// first worker, calls it between primitives of backward.
  void advance();
  /// Returns when the sums over the group are complete. Call it after this rank's workers are done.
  void finish();
  /// The sums, valid on all ranks of the node between finish() and the next step; only the update writes
  /// them.
  std::span<float> floats() const { return memory_.sums(0).floats; }
  std::span<std::int64_t> fixed() const { return memory_.sums(0).fixed; }

  /// Number of nodes of the group: ranks that share no memory count as nodes.
  int nodes() const { return place_.nodes; }
  /// Returns the size of the buffers between nodes.
  std::size_t exchange_bytes() const { return exchange_->bytes(); }
  /// True if advance() has something to do.
  bool overlaps() const { return nodes() > 1; }

 private:
  std::size_t complete() const;  ///< number of elements, on all workers of the node
  void add_workers(Range range);
  void pass_on();
  void make_progress();
  /// While the caller holds this, the thread does not call MPI. For calls of MPI within a step.
  std::unique_lock<std::mutex> lock_mpi();

  ModelMemory& memory_;
  NodeTeam& team_;
  bool alone_;  ///< the group has one rank
  NodePlace place_;
  NodeShare share_;                          ///< of this rank
  std::optional<sync::AllReduce> exchange_;  ///< of the slice with its peers
  std::function<void(int)> add_;
  std::mutex mpi_;
  bool exchanges_ = false;                             ///< guarded by mpi_: the thread may call MPI
  std::optional<os::PeriodicThread> progress_thread_;  ///< of a large exchange between nodes

  // State of the current step.
  std::uint64_t before_ = 0;  ///< elements that all workers have completed in earlier steps
};

}  // namespace convoke::engine
