#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "convoke/slurm/partition.hpp"

namespace convoke::slurm {

/// What a job can use.
struct Workload {
  std::string name;               ///< for messages
  std::int64_t most_workers = 1;  ///< cores beyond so many would have nothing to do; the lanes of a step
  bool one_node = false;          ///< that is all it is worth: evaluating, say
  std::int64_t node_bytes = 0;    ///< of each node, shared by its ranks: the samples
  /// Of one rank with so many worker threads, of so many ranks.
  std::function<std::int64_t(int threads, std::int64_t ranks)> rank_bytes;
};

/// How many of what; 0: to be worked out.
struct Layout {
  std::int64_t nodes = 0;
  int ranks_per_node = 0;
  int cpus_per_rank = 0;        ///< physical cores
  int threads_per_core = 1;     ///< of the nodes: with more than one, the others are left idle
  std::int64_t memory_mib = 0;  ///< of each node, with reserve; 0: not known

  std::int64_t ranks() const { return nodes * ranks_per_node; }
  std::int64_t workers() const { return ranks() * cpus_per_rank; }
  bool complete() const { return nodes > 0 && ranks_per_node > 0 && cpus_per_rank > 0; }
};

/// Fills in what `wished` leaves open: a rank on each socket, a worker thread on each of its cores, as many
/// nodes as the workload keeps busy. `partition`: null if nothing is known of the nodes, then everything must
/// be wished. Throws Error for more than there is, of nodes, cores or memory, and for ranks without any work.
Layout lay_out(const Workload& workload, Layout wished, const Partition* partition);

}  // namespace convoke::slurm
