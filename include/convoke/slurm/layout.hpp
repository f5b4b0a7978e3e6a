#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "convoke/slurm/partition.hpp"

namespace convoke::slurm {

/// The resources that a job can use.
struct Workload {
  std::string name;               ///< for messages
  std::int64_t most_workers = 1;  ///< more worker threads would be idle; the micro-batches of a step
  bool one_node = false;          ///< more nodes are useless, e.g. for evaluation
  std::int64_t node_bytes = 0;    ///< on each node: the samples, which its ranks share
  /// Returns the bytes of one rank with this number of worker threads, among this number of ranks on so many
  /// nodes.
  std::function<std::int64_t(int threads, std::int64_t ranks, std::int64_t nodes)> rank_bytes;
};

/// The size of a job; 0: to be computed.
struct Layout {
  std::int64_t nodes = 0;
  int ranks_per_node = 0;
  int cpus_per_rank = 0;        ///< physical cores
  int threads_per_core = 1;     ///< hardware threads per core; only one of them is used
  std::int64_t memory_mib = 0;  ///< per node, with a reserve; 0: unknown

  std::int64_t ranks() const { return nodes * ranks_per_node; }
  std::int64_t workers() const { return ranks() * cpus_per_rank; }
  bool complete() const { return nodes > 0 && ranks_per_node > 0 && cpus_per_rank > 0; }
};

/// Completes `requested`: one rank per socket, one worker thread per core, and as many nodes as the workload
/// keeps busy and the partition has with these cores and this memory. `partition`: null if the nodes are
/// unknown; then `requested` must be complete. Throws Error if there are too few nodes, cores or memory, or
/// if ranks would have no work.
Layout lay_out(const Workload& workload, Layout requested, const Partition* partition);

}  // namespace convoke::slurm
