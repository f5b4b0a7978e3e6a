#include "convoke/slurm/layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::slurm {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// The memory to request: a quarter more than predicted, at least 512 MiB, in steps of 256 MiB.
std::int64_t with_reserve(std::int64_t bytes) {
  const std::int64_t mib = (bytes + bytes / 4 + kMiB - 1) / kMiB;
  return std::max<std::int64_t>(512, (mib + 255) / 256 * 256);
}

// Returns the number of nodes with the cores and the memory that the layout needs.
std::int64_t fitting_nodes(const Layout& layout, const Partition& partition) {
  std::int64_t nodes = 0;
  for (const NodeKind& kind : partition.kinds) {
    const bool fits =
        layout.ranks_per_node * layout.cpus_per_rank <= kind.cores && layout.memory_mib <= kind.memory_mib;
    if (fits) nodes += kind.count;
  }
  return nodes;
}

void require_nodes(const Layout& layout, const Partition& partition) {
  if (layout.nodes > partition.nodes()) {
    throw Error(fmt::format("{} nodes are more than the {} that are available in partition {}", layout.nodes,
                            partition.nodes(), partition.name),
                "use fewer --nodes, or another --partition");
  }
  const std::int64_t fitting = fitting_nodes(layout, partition);
  if (layout.nodes <= fitting) return;
  const auto memory = static_cast<std::uint64_t>(layout.memory_mib * kMiB);
  throw Error(
      fmt::format("the job needs {} with {}{}, but partition {} has only {}", counted(layout.nodes, "node"),
                  counted(layout.ranks_per_node * layout.cpus_per_rank, "core"),
                  memory > 0 ? " and " + format_bytes(memory) + " of memory" : "", partition.name, fitting),
      "use fewer --nodes, --ranks-per-node or --cpus-per-rank, or another --partition");
}

void require_cores(const Layout& layout, const Partition& partition) {
  const auto holds = [&](const NodeKind& kind) {
    return layout.ranks_per_node * layout.cpus_per_rank <= kind.cores;
  };
  if (std::any_of(partition.kinds.begin(), partition.kinds.end(), holds)) return;
  throw Error(
      fmt::format("{} ranks with {} cores each need more than the {} cores of a node in partition {}",
                  layout.ranks_per_node, layout.cpus_per_rank, partition.kinds.front().cores, partition.name),
      "use fewer --ranks-per-node or --cpus-per-rank");
}

void require_memory(const Workload& workload, const Layout& layout, const Partition& partition) {
  std::int64_t most = 0;
  for (const NodeKind& kind : partition.kinds) most = std::max(most, kind.memory_mib);
  if (layout.memory_mib <= most) return;
  const std::int64_t rank = workload.rank_bytes(layout.cpus_per_rank, layout.ranks(), layout.nodes);
  throw Error(
      fmt::format(
          "{} does not fit into memory: the {} ranks of a node take {} each, their samples {}; with a "
          "reserve of a quarter that is {}, but the nodes of partition {} have at most {}",
          workload.name, layout.ranks_per_node, format_bytes(static_cast<std::uint64_t>(rank)),
          format_bytes(static_cast<std::uint64_t>(workload.node_bytes)),
          format_bytes(static_cast<std::uint64_t>(layout.memory_mib * kMiB)), partition.name,
          format_bytes(static_cast<std::uint64_t>(most * kMiB))),
      "use fewer --ranks-per-node or --cpus-per-rank, a smaller --set train.micro_batch=..., --set "
      "data.memory=... to stream samples, or another --partition");
}

}  // namespace

Layout lay_out(const Workload& workload, Layout requested, const Partition* partition) {
  Layout layout = requested;
  if (partition == nullptr && !layout.complete()) {
    throw Error("the nodes of the cluster are unknown",
                "add --nodes N --ranks-per-node R --cpus-per-rank C, or use a machine with sinfo");
  }
  const auto usable = [&] { return std::max<std::int64_t>(1, fitting_nodes(layout, *partition)); };
  if (!layout.complete()) {
    const NodeKind& kind = partition->kinds.front();
    // 1. Ranks and their cores: all cores of a node, unless there is less work.
    const std::int64_t most = std::max<std::int64_t>(1, workload.most_workers);
    const auto busy = static_cast<int>(std::min<std::int64_t>(kind.cores, most));
    if (layout.ranks_per_node == 0 && layout.cpus_per_rank == 0) {
      layout.ranks_per_node = std::clamp(kind.sockets, 1, busy);
    }
    if (layout.ranks_per_node == 0) layout.ranks_per_node = std::max(1, busy / layout.cpus_per_rank);
    if (layout.cpus_per_rank == 0) {
      const std::int64_t nodes = std::max<std::int64_t>(1, layout.nodes);
      layout.cpus_per_rank = static_cast<int>(
          std::max<std::int64_t>(1, std::min<std::int64_t>(kind.cores / layout.ranks_per_node,
                                                           most / (nodes * layout.ranks_per_node))));
    }
    // 2. Nodes: as many as have work for all these workers, among those with enough cores.
    if (layout.nodes == 0) {
      const std::int64_t workers = std::int64_t{layout.ranks_per_node} * layout.cpus_per_rank;
      layout.nodes = workload.one_node ? 1 : std::clamp<std::int64_t>(most / workers, 1, usable());
    }
  }
  if (partition != nullptr) {
    layout.threads_per_core = partition->kinds.front().threads_per_core;
    require_cores(layout, *partition);
    require_nodes(layout, *partition);
  }
  if (layout.ranks() > workload.most_workers) {
    throw Error(fmt::format("{} ranks are more than {} can use, whose work has only {} parts", layout.ranks(),
                            workload.name, workload.most_workers),
                "use fewer --nodes or --ranks-per-node, a larger train.batch or a smaller train.micro_batch");
  }
  const auto predict = [&] {
    if (!workload.rank_bytes) return;
    const std::int64_t rank = workload.rank_bytes(layout.cpus_per_rank, layout.ranks(), layout.nodes);
    layout.memory_mib = with_reserve(workload.node_bytes + layout.ranks_per_node * rank);
  };
  predict();
  if (partition != nullptr) {
    require_memory(workload, layout, *partition);
    // 3. Fewer nodes, if only these have the memory. Fewer ranks may need more of it.
    while (requested.nodes == 0 && layout.nodes > usable()) {
      layout.nodes = usable();
      predict();
    }
    require_nodes(layout, *partition);
  }
  return layout;
}

}  // namespace convoke::slurm
