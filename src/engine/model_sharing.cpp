#include "convoke/engine/model_sharing.hpp"

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "convoke/mpi/together.hpp"
#include "engine/execution.hpp"

namespace convoke::engine {

ModelRanks model_ranks(const EngineOptions& options, const mpi::Communicator& group) {
  const mpi::Communicator host = group.split_node();
  const int workers = worker_count(options, group.rank(), group.size());
  std::vector<std::int64_t> counts(static_cast<std::size_t>(host.size()));
  counts[static_cast<std::size_t>(host.rank())] = workers;
  host.sum(std::span(counts));
  const os::WorkerPlace place{
      .workers = workers,
      .first =
          static_cast<int>(std::accumulate(counts.begin(), counts.begin() + host.rank(), std::int64_t{0})),
      .workers_of_host = static_cast<int>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}))};
  if (options.sharing == ModelSharing::kHost) return {host, place};
  if (options.sharing == ModelSharing::kNone) return {group.split(group.rank(), 0), place};
  const int node = mpi::together(
      group, [&] { return os::numa_node_of_rank(place, os::allowed_cpus(), os::online_cpus()); });
  return {host.split(node, host.rank()), place};
}

}  // namespace convoke::engine
