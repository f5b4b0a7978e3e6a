#include "convoke/doctor/processor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "convoke/core/keys.hpp"
#include "convoke/core/text.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/processors.hpp"
#include "doctor/evidence.hpp"

namespace convoke::doctor {
namespace {

namespace fs = std::filesystem;

std::string word_in(const fs::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

constexpr std::array kProcessorFields{
    field<&Processor::host>("host"),
    field<&Processor::instruction_set>("instruction_set"),
    field<&Processor::model>("model"),
    field<&Processor::governor>("governor"),
    field<&Processor::driver>("driver"),
    field<&Processor::largest_ghz>("largest_ghz"),
    field<&Processor::measured_ghz>("measured_ghz"),
};

void check_instruction_sets(const std::vector<Processor>& ranks, std::vector<Finding>& found) {
  std::map<std::string, std::set<std::string>> hosts;
  for (const Processor& rank : ranks) hosts[rank.instruction_set].insert(rank.host);
  if (hosts.size() <= 1) return;
  std::vector<std::string> parts;
  for (const auto& [set, where] : hosts) {
    parts.push_back(fmt::format("{} on {}", set, fmt::join(where, ", ")));
  }
  found.push_back(
      warning("instruction set",
              fmt::format("ranks have different instruction sets: some wait for others, and they may "
                          "round or store parameters differently: {}",
                          join(parts, "; ")),
              "request nodes of one kind (sbatch --constraint), or use the same set on all ranks: "
              "mpirun -x ONEDNN_MAX_CPU_ISA=AVX2"));
}

void check_governor(const Processor& host, std::vector<Finding>& found) {
  // These drivers raise the clock under load, whatever the governor is called.
  const bool by_itself = host.driver.starts_with("intel_pstate") || host.driver.starts_with("amd-pstate") ||
                         host.driver.starts_with("amd_pstate");
  if (host.governor.empty() || host.governor == "performance" || host.governor == "schedutil" || by_itself) {
    return;
  }
  const bool low = host.governor == "powersave" || host.governor == "userspace";
  found.push_back({low ? Severity::kWarning : Severity::kNote, "clock",
                   fmt::format("{}: the frequency governor of the processor is {}{}", host.host,
                               host.governor, low ? ", which keeps the clock low" : ""),
                   "cpupower frequency-set -g performance (as root, on that host)"});
}

// The facts that the root needs about the processors of a host.
constexpr std::array<std::pair<const char*, int os::LogicalCpu::*>, 5> kFields{{
    {"numbers", &os::LogicalCpu::cpu},
    {"cores", &os::LogicalCpu::core},
    {"nodes", &os::LogicalCpu::node},
    {"packages", &os::LogicalCpu::package},
    {"speeds", &os::LogicalCpu::speed},
}};

Value::Array list(std::span<const int> numbers) {
  const std::vector<std::int64_t> values(numbers.begin(), numbers.end());
  return {values.begin(), values.end()};
}

std::vector<int> numbers_in(SettingsReader& read, std::string_view key) {
  const std::vector<std::int64_t> values = read.get(key, std::vector<std::int64_t>{});
  return {values.begin(), values.end()};
}

// Returns the threads of the core with most of them.
int threads_per_core(std::span<const os::LogicalCpu> host) {
  std::map<int, int> threads;
  int most = 1;
  for (const os::LogicalCpu& cpu : host) most = std::max(most, ++threads[cpu.core]);
  return most;
}

// Returns the different values of a field: packages, NUMA nodes.
std::set<int> all_of(int os::LogicalCpu::*field, std::span<const os::LogicalCpu> host) {
  std::set<int> values;
  for (const os::LogicalCpu& cpu : host) values.insert(cpu.*field);
  return values;
}

// Returns " of 2 hardware threads, 2 sockets, 8 NUMA nodes", without what there is one of.
std::string parts_of(std::span<const os::LogicalCpu> host) {
  const int together = threads_per_core(host);
  const std::size_t packages = all_of(&os::LogicalCpu::package, host).size();
  const std::size_t nodes = all_of(&os::LogicalCpu::node, host).size();
  return (together > 1 ? fmt::format(" of {} hardware threads", together) : "") +
         (packages > 1 ? fmt::format(", {} sockets", packages) : "") +
         (nodes > 1 ? fmt::format(", {} NUMA nodes", nodes) : "");
}

// Returns " (16 on node 0, 16 on node 1)" for the worker threads of a rank that may use `cpus`; "" if the
// host has one NUMA node.
std::string spread_of(const os::WorkerPlace& place, std::span<const int> cpus,
                      std::span<const os::LogicalCpu> host) {
  if (all_of(&os::LogicalCpu::node, host).size() < 2) return {};
  std::vector<std::string> parts;
  for (const auto& [node, count] : os::workers_by_node(place, cpus, host))
    parts.push_back(fmt::format("{} on node {}", count, node));
  return fmt::format(" ({})", join(parts));
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

}  // namespace

Processor probe_processor(bool measure, const fs::path& system) {
  Processor processor;
  processor.host = os::host_name();
  processor.instruction_set = nn::backend().instruction_set;
  processor.model = os::cpu_model();
  const fs::path clock = system / fmt::format("cpu/cpu{}/cpufreq", os::allowed_cpus().front());
  processor.governor = word_in(clock / "scaling_governor");
  processor.driver = word_in(clock / "scaling_driver");
  if (double khz = 0; std::ifstream(clock / "cpuinfo_max_freq") >> khz) processor.largest_ghz = khz / 1e6;
  if (measure) processor.measured_ghz = os::measure_clock_ghz();
  return processor;
}

std::vector<Processor> gather_processors(const run::Machine& machine, const mpi::Communicator& world,
                                         bool measure) {
  const Processor mine = probe_processor(measure && machine.local_rank == 0);
  return structs_of(kProcessorFields, gather(to_settings(kProcessorFields, mine), world));
}

std::vector<Finding> check_processors(const std::vector<Processor>& ranks) {
  std::vector<Finding> found;
  check_instruction_sets(ranks, found);
  std::set<std::string> seen;
  double fastest = 0;
  for (const Processor& rank : ranks) fastest = std::max(fastest, rank.measured_ghz);
  for (const Processor& rank : ranks) {
    if (seen.insert(rank.host).second) check_governor(rank, found);
    if (rank.measured_ghz <= 0) continue;
    if (rank.measured_ghz < 0.8 * fastest) {
      found.push_back(
          warning("clock",
                  fmt::format("{}: a busy core runs at {:.2f} GHz, but at {:.2f} GHz on the fastest "
                              "host; in synchronous training all ranks wait for the slowest",
                              rank.host, rank.measured_ghz, fastest),
                  "leave that host out, or check its load, its governor and its temperature"));
    } else if (rank.measured_ghz < 0.6 * rank.largest_ghz) {
      found.push_back(note("clock",
                           fmt::format("{}: a busy core runs at {:.2f} GHz; the maximum is {:.2f} GHz",
                                       rank.host, rank.measured_ghz, rank.largest_ghz),
                           "check its load, its governor and its temperature"));
    }
  }
  if (found.empty()) {
    const Processor& first = ranks.front();
    std::vector<std::string> known;
    if (!first.model.empty()) known.push_back(first.model);
    if (first.measured_ghz > 0) known.push_back(fmt::format("a busy core at {:.2f} GHz", first.measured_ghz));
    found.push_back(ok("instruction set",
                       fmt::format("{} on all ranks{}", first.instruction_set,
                                   known.empty() ? std::string() : fmt::format(" ({})", join(known)))));
  }
  return found;
}

Topology gather_topology(const run::Machine& machine, const mpi::Communicator& world) {
  Settings mine{{"cpus", list(os::allowed_cpus())}};
  if (machine.local_rank == 0) {
    for (const auto& [name, field] : kFields) {
      std::vector<int> values;
      for (const os::LogicalCpu& cpu : os::online_cpus()) values.push_back(cpu.*field);
      mine.set(name, list(values));
    }
  }
  Topology topology;
  for (const Settings& seen : gather(mine, world)) {
    const int rank = static_cast<int>(topology.cpus.size());
    SettingsReader read(seen, "topology");
    topology.cpus.push_back(numbers_in(read, "cpus"));
    for (const auto& [name, field] : kFields) {
      const std::vector<int> values = numbers_in(read, name);
      if (values.empty()) continue;
      std::vector<os::LogicalCpu>& host = topology.hosts[rank];
      host.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) host[i].*field = values[i];
    }
  }
  return topology;
}

std::vector<Finding> check_smt(const run::Machine& machine, const Topology& topology, int threads) {
  std::vector<Finding> found;
  for (const auto& [node, host] : topology.hosts) {
    const int together = threads_per_core(host);
    if (together <= 1) continue;
    for (const run::Sharing& sharing : run::sharings(machine.placements, node)) {
      std::set<int> cpus;
      int running = 0;
      for (const int rank : sharing.ranks) {
        const std::vector<int>& mine = of_rank(topology.cpus, rank);
        cpus.insert(mine.begin(), mine.end());
        running += machine.threads_of(rank, threads);
      }
      const int cores = static_cast<int>(sharing.cores.size());
      if (running <= cores || running > static_cast<int>(cpus.size())) continue;
      found.push_back(
          warning("smt",
                  fmt::format("{}: {} threads have {} CPUs, but these are hardware threads of only {} "
                              "({} each), and share their arithmetic units",
                              of_rank(machine.placements, node).host, running, cpus.size(),
                              counted(cores, "core"), together),
                  "use one thread or rank for each core: run.threads = \"auto\", mpirun without "
                  "--use-hwthread-cpus, sbatch --hint=nomultithread"));
    }
  }
  return found;
}

std::vector<Finding> check_numa(const run::Machine& machine, const Topology& topology) {
  std::vector<Finding> found;
  for (const auto& [node, host] : topology.hosts) {
    const std::set<int> nodes = all_of(&os::LogicalCpu::node, host);
    if (nodes.size() <= 1) continue;
    std::vector<int> across;
    const std::vector<int> ranks = ranks_of(machine.placements, node);
    for (const int rank : ranks) {
      if (memory_of(of_rank(machine.placements, rank), host).size() > 1) across.push_back(rank);
    }
    if (across.empty()) continue;
    const std::size_t per_memory = std::max<std::size_t>(1, ranks.size() / nodes.size());
    const std::size_t each = cores_by_memory(host).size() / nodes.size() / per_memory;
    found.push_back({ranks.size() >= nodes.size() ? Severity::kWarning : Severity::kNote, "numa",
                     fmt::format("{}: the cores of {} {} belong to several of the {} NUMA nodes; memory "
                                 "of another node is slower",
                                 of_rank(machine.placements, node).host, plural(std::ssize(across), "rank"),
                                 os::format_ranges(across), nodes.size()),
                     fmt::format("give each NUMA node its own ranks: mpirun --map-by ppr:{}:numa:PE={}",
                                 per_memory, std::max<std::size_t>(1, each))});
  }
  return found;
}

std::vector<Finding> check_speeds(const run::Machine& machine, const Topology& topology) {
  std::vector<Finding> found;
  for (const auto& [node, host] : topology.hosts) {
    const std::set<int> speeds = all_of(&os::LogicalCpu::speed, host);
    if (speeds.size() <= 1) continue;
    std::set<int> slow;
    std::vector<int> fast;
    for (const os::LogicalCpu& cpu : host) {
      if (cpu.speed < *speeds.rbegin()) {
        slow.insert(cpu.core);
      } else {
        fast.push_back(cpu.cpu);
      }
    }
    const bool used = std::ranges::any_of(ranks_of(machine.placements, node), [&](int rank) {
      return std::ranges::any_of(of_rank(machine.placements, rank).cores,
                                 [&](int core) { return slow.contains(core); });
    });
    if (!used) continue;
    found.push_back(
        note("cores",
             fmt::format("{}: {} of the {} cores are slower than the others, which wait for them",
                         of_rank(machine.placements, node).host, slow.size(), cores_by_memory(host).size()),
             fmt::format("compare with the fast cores alone: taskset -c \"{}\"", os::format_ranges(fast))));
  }
  return found;
}

std::string binding_map(const run::Machine& machine, const Topology& topology, int threads) {
  std::string text;
  for (const auto& [node, host] : topology.hosts) {
    const auto cores = cores_by_memory(host);
    const run::Placement& first = of_rank(machine.placements, node);
    text += fmt::format("{}: {}{}{}\n", first.host, counted(cores.size(), "core"), parts_of(host),
                        first.quota > 0 ? fmt::format(", {:.1f} CPUs granted", first.quota) : "");
    const std::vector<int> ranks = ranks_of(machine.placements, node);
    os::WorkerPlace place{.workers_of_host = 0};
    for (const int rank : ranks) place.workers_of_host += machine.threads_of(rank, threads);
    for (const int rank : ranks) {
      const run::Placement& placement = of_rank(machine.placements, rank);
      std::string row;
      for (std::size_t i = 0; i < cores.size(); ++i) {
        if (i > 0 && cores[i].first != cores[i - 1].first) row += '|';
        const auto& own = placement.cores;
        row += std::binary_search(own.begin(), own.end(), cores[i].second) ? '#' : '.';
      }
      place.workers = machine.threads_of(rank, threads);
      text += fmt::format("  rank {:<5} {}  {}{}, {} {}\n", rank, row, counted(place.workers, "thread"),
                          spread_of(place, of_rank(topology.cpus, rank), host),
                          plural(std::ssize(placement.cores), "core"), os::format_ranges(placement.cores));
      place.first += place.workers;
    }
  }
  return text;
}

}  // namespace convoke::doctor
