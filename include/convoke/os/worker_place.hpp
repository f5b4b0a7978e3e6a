#pragma once
#include <map>
#include <span>
#include <vector>

#include "convoke/os/processors.hpp"

namespace convoke::os {

/// A worker thread among those of its rank and those of its host.
struct WorkerPlace {
  int worker = 0, workers = 1;         ///< of this rank
  int first = 0, workers_of_host = 1;  ///< of this rank's workers among those of all ranks of the host
};

/// Returns those of a rank's `cpus` that belong to the NUMA node of one of its workers. The nodes have
/// workers in proportion to their cores, neighboring workers in one node. Ranks that share their cores
/// divide them by their order. Pure.
std::vector<int> cpus_of_worker(const WorkerPlace& place, std::span<const int> cpus,
                                std::span<const LogicalCpu> host);

/// Returns the number of a rank's workers in each NUMA node, as above; `rank`: any of its workers. Pure.
std::map<int, int> workers_by_node(WorkerPlace rank, std::span<const int> cpus,
                                   std::span<const LogicalCpu> host);

/// Returns the NUMA node of most of a rank's workers; of two with as many, the first. Pure.
int numa_node_of_rank(const WorkerPlace& rank, std::span<const int> cpus, std::span<const LogicalCpu> host);

/// Binds the calling thread to its NUMA node, as above, if the CPUs that it may use belong to several. The
/// system chooses the core within the node, since other programs may use some of them.
void stay_in_numa_node(const WorkerPlace& place);

}  // namespace convoke::os
