#include "convoke/doctor/topology.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/processors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "doctor/evidence.hpp"

namespace convoke::doctor {
namespace {

std::vector<std::int64_t> wide(std::span<const int> numbers) { return {numbers.begin(), numbers.end()}; }

Value::Array list(std::span<const int> numbers) {
  const std::vector<std::int64_t> values = wide(numbers);
  return {values.begin(), values.end()};
}

std::vector<int> numbers_in(SettingsReader& read, std::string_view key) {
  const std::vector<std::int64_t> values = read.get(key, std::vector<std::int64_t>{});
  return {values.begin(), values.end()};
}

int threads_per_core(std::span<const os::LogicalCpu> host) {
  std::set<int> cores;
  for (const os::LogicalCpu& cpu : host) cores.insert(cpu.core);
  return static_cast<int>(host.size() / std::max<std::size_t>(1, cores.size()));
}

/// NUMA nodes and cores, in the order of the drawing.
std::vector<std::pair<int, int>> cores_by_memory(std::span<const os::LogicalCpu> host) {
  std::set<std::pair<int, int>> cores;  // node, core
  for (const os::LogicalCpu& cpu : host) cores.emplace(cpu.node, cpu.core);
  return {cores.begin(), cores.end()};
}

std::set<int> memory_of(const run::Placement& placement, std::span<const os::LogicalCpu> host) {
  std::set<int> nodes;
  for (const auto& [node, core] : cores_by_memory(host)) {
    if (std::binary_search(placement.cores.begin(), placement.cores.end(), core)) nodes.insert(node);
  }
  return nodes;
}

std::vector<int> ranks_on(const run::Machine& machine, int node) {
  std::vector<int> ranks;
  for (int rank = 0; rank < machine.ranks; ++rank) {
    if (machine.placements[static_cast<std::size_t>(rank)].node == node) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace

Topology gather_topology(const run::Machine& machine, const mpi::Communicator& world) {
  Settings mine{{"cpus", list(os::allowed_cpus())}};
  if (machine.local_rank == 0) {
    std::vector<int> numbers, cores, nodes;
    for (const os::LogicalCpu& cpu : os::online_cpus()) {
      numbers.push_back(cpu.cpu), cores.push_back(cpu.core), nodes.push_back(cpu.node);
    }
    mine.set("numbers", list(numbers)), mine.set("cores", list(cores)), mine.set("nodes", list(nodes));
  }
  Topology topology;
  for (const Settings& seen : gather(mine, world)) {
    const int rank = static_cast<int>(topology.cpus.size());
    SettingsReader read(seen, "topology");
    topology.cpus.push_back(numbers_in(read, "cpus"));
    const std::vector<int> numbers = numbers_in(read, "numbers"), cores = numbers_in(read, "cores"),
                           nodes = numbers_in(read, "nodes");
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      topology.hosts[rank].push_back({.cpu = numbers[i], .core = cores[i], .node = nodes[i]});
    }
  }
  return topology;
}

std::vector<Finding> judge_smt(const run::Machine& machine, const Topology& topology, int threads) {
  std::vector<Finding> found;
  for (const auto& [node, host] : topology.hosts) {
    const int together = threads_per_core(host);
    if (together <= 1) continue;
    for (const run::Sharing& sharing : run::sharings(machine.placements, node)) {
      std::set<int> cpus;
      int running = 0;
      for (const int rank : sharing.ranks) {
        const std::vector<int>& mine = topology.cpus[static_cast<std::size_t>(rank)];
        cpus.insert(mine.begin(), mine.end());
        running += machine.threads_of(rank, threads);
      }
      const int cores = static_cast<int>(sharing.cores.size());
      if (running <= cores || running > static_cast<int>(cpus.size())) continue;
      found.push_back(
          {.severity = Severity::kWarning,
           .subject = "smt",
           .evidence = fmt::format("{}: {} threads have {} CPUs, but these are hardware threads of only {} "
                                   "({} each), and share their arithmetic units",
                                   machine.placements[static_cast<std::size_t>(node)].host, running,
                                   cpus.size(), counted(cores, "core"), together),
           .remedy = "use one thread or rank for each core: run.threads = \"auto\", mpirun without "
                     "--use-hwthread-cpus, sbatch --hint=nomultithread"});
    }
  }
  return found;
}

std::vector<Finding> judge_numa(const run::Machine& machine, const Topology& topology) {
  std::vector<Finding> found;
  for (const auto& [node, host] : topology.hosts) {
    std::set<int> nodes;
    for (const os::LogicalCpu& cpu : host) nodes.insert(cpu.node);
    if (nodes.size() <= 1) continue;
    std::vector<int> across;
    const std::vector<int> ranks = ranks_on(machine, node);
    for (const int rank : ranks) {
      if (memory_of(machine.placements[static_cast<std::size_t>(rank)], host).size() > 1)
        across.push_back(rank);
    }
    if (across.empty()) continue;
    const std::size_t per_memory = std::max<std::size_t>(1, ranks.size() / nodes.size());
    const std::size_t each = cores_by_memory(host).size() / nodes.size() / per_memory;
    found.push_back(
        {.severity = ranks.size() >= nodes.size() ? Severity::kWarning : Severity::kNote,
         .subject = "numa",
         .evidence = fmt::format("{}: the cores of {} {} belong to several of the {} NUMA nodes; memory "
                                 "of another node is slower",
                                 machine.placements[static_cast<std::size_t>(node)].host,
                                 plural(std::ssize(across), "rank"), os::format_ranges(across), nodes.size()),
         .remedy = fmt::format("give each NUMA node its own ranks: mpirun --map-by ppr:{}:numa:PE={}",
                               per_memory, std::max<std::size_t>(1, each))});
  }
  return found;
}

std::string binding_map(const run::Machine& machine, const Topology& topology, int threads) {
  std::string text;
  for (const auto& [node, host] : topology.hosts) {
    const auto cores = cores_by_memory(host);
    const run::Placement& first = machine.placements[static_cast<std::size_t>(node)];
    const int together = threads_per_core(host);
    std::set<int> nodes;
    for (const os::LogicalCpu& cpu : host) nodes.insert(cpu.node);
    text += fmt::format("{}: {}{}{}{}\n", first.host, counted(cores.size(), "core"),
                        together > 1 ? fmt::format(" of {} hardware threads", together) : "",
                        nodes.size() > 1 ? fmt::format(", {} NUMA nodes", nodes.size()) : "",
                        first.quota > 0 ? fmt::format(", {:.1f} CPUs granted", first.quota) : "");
    for (const int rank : ranks_on(machine, node)) {
      const run::Placement& placement = machine.placements[static_cast<std::size_t>(rank)];
      std::string row;
      for (std::size_t i = 0; i < cores.size(); ++i) {
        if (i > 0 && cores[i].first != cores[i - 1].first) row += '|';
        const auto& own = placement.cores;
        row += std::binary_search(own.begin(), own.end(), cores[i].second) ? '#' : '.';
      }
      const int running = machine.threads_of(rank, threads);
      text += fmt::format("  rank {:<5} {}  {}, {} {}\n", rank, row, counted(running, "thread"),
                          plural(std::ssize(placement.cores), "core"), os::format_ranges(placement.cores));
    }
  }
  return text;
}

}  // namespace convoke::doctor
