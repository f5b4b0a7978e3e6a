#include "convoke/os/processors.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <set>
#include <sstream>
#include <type_traits>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/environment.hpp"

namespace convoke::os {
namespace {

struct Free {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Free>;
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, Free>;

Topology load(const std::string& text) {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) throw std::bad_alloc();
  Topology topology(made);
  // Processors outside of the control group are shown, too; nothing is found out by moving to each of them.
  hwloc_topology_set_flags(made,
                           HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED | HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING);
  int failed = 0;
  if (!text.empty()) {
    // hwloc wants the hardware threads of a core to be named, even if there is one.
    const std::string synthetic = text.find("pu:") != std::string::npos ? text : text + " pu:1";
    failed = std::filesystem::exists(text) ? hwloc_topology_set_xml(made, text.c_str())
                                           : hwloc_topology_set_synthetic(made, synthetic.c_str());
  }
  if (failed != 0 || hwloc_topology_load(made) != 0) {
    throw Error(
        text.empty() ? "the processors of this host cannot be read (hwloc)"
                     : fmt::format("\"{}\" is neither a synthetic topology nor an XML file of hwloc", text),
        "set CONVOKE_TOPOLOGY to a text such as \"pack:2 numa:1 core:32 pu:2\" (two sockets of 32 cores of "
        "two hardware threads), or to a file that lstopo wrote on that host");
  }
  return topology;
}

// Returns "3.7 GHz": the highest clock of the first processor, or the one that /proc/cpuinfo has, which is
// fixed where there is no scaling (in virtual machines); "" if unknown.
std::string clock_text() {
  double ghz = 0;
  if (double khz = 0; std::ifstream("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq") >> khz)
    ghz = khz / 1e6;
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; ghz == 0 && std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(':');
    if (line.starts_with("cpu MHz") && colon != std::string::npos)
      ghz = std::atof(line.c_str() + colon + 1) / 1e3;
  }
  return ghz > 0 ? fmt::format("{:.1f} GHz", ghz) : "";
}

hwloc_topology_t here() {
  static const Topology topology = load(pretended_topology());
  return topology.get();
}

Bitmap set_of(std::span<const int> numbers) {
  Bitmap set(hwloc_bitmap_alloc());
  for (const int number : numbers) hwloc_bitmap_set(set.get(), static_cast<unsigned>(number));
  return set;
}

std::vector<int> numbers_in(hwloc_const_bitmap_t set) {
  std::vector<int> numbers;
  if (hwloc_bitmap_weight(set) < 0) return numbers;  // infinite
  for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i)) numbers.push_back(i);
  return numbers;
}

// Returns the nearest NUMA node with memory; 0 if the system does not tell.
int memory_near(hwloc_topology_t topology, hwloc_obj_t cpu) {
  for (hwloc_obj_t place = cpu; place != nullptr; place = place->parent) {
    for (hwloc_obj_t node = nullptr;
         (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
      if (hwloc_bitmap_isset(place->nodeset, node->os_index) && node->attr->numanode.local_memory > 0) {
        return static_cast<int>(node->os_index);
      }
    }
  }
  return 0;
}

int speed_of(hwloc_topology_t topology, hwloc_obj_t cpu) {
  const int kind = hwloc_cpukinds_get_by_cpuset(topology, cpu->cpuset, 0);
  int efficiency = 0;
  if (kind < 0 || hwloc_cpukinds_get_info(topology, static_cast<unsigned>(kind), nullptr, &efficiency,
                                          nullptr, nullptr, 0) != 0) {
    return 0;
  }
  return std::max(0, efficiency);
}

std::vector<LogicalCpu> cpus_of(hwloc_topology_t topology) {
  std::vector<LogicalCpu> cpus;
  for (hwloc_obj_t cpu = nullptr;
       (cpu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, cpu)) != nullptr;) {
    const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, cpu);
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, cpu);
    cpus.push_back(
        {.cpu = static_cast<int>(cpu->os_index),
         .core = hwloc_bitmap_first((core == nullptr ? cpu : core)->cpuset),
         .node = memory_near(topology, cpu),
         .package = package == nullptr ? 0 : static_cast<int>(package->logical_index),
         .speed = speed_of(topology, cpu),
         .allowed = hwloc_bitmap_isset(hwloc_topology_get_allowed_cpuset(topology), cpu->os_index) != 0});
  }
  std::sort(cpus.begin(), cpus.end(), [](const LogicalCpu& a, const LogicalCpu& b) { return a.cpu < b.cpu; });
  return cpus;
}

std::string bind_to(std::span<const int> cpus, int what) {
  return hwloc_set_cpubind(here(), set_of(cpus).get(), what) == 0 ? std::string() : std::strerror(errno);
}

}  // namespace

std::string pretended_topology() { return variable("CONVOKE_TOPOLOGY").value_or(""); }

std::vector<LogicalCpu> cpus_in(const std::string& topology) { return cpus_of(load(topology).get()); }

const std::vector<LogicalCpu>& online_cpus() {
  static const std::vector<LogicalCpu> cpus = cpus_of(here());
  return cpus;
}

std::vector<int> parse_ranges(const std::string& text) {
  const Bitmap set(hwloc_bitmap_alloc());
  return hwloc_bitmap_list_sscanf(set.get(), text.c_str()) == 0 ? numbers_in(set.get()) : std::vector<int>();
}

std::string format_ranges(std::span<const int> sorted) {
  std::vector<std::string> parts;
  for (std::size_t first = 0; first < sorted.size();) {
    std::size_t last = first;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    parts.push_back(first == last ? fmt::format("{}", sorted[first])
                                  : fmt::format("{}-{}", sorted[first], sorted[last]));
    first = last + 1;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<int> cores_of(std::span<const int> cpus, std::span<const LogicalCpu> host) {
  std::vector<int> cores;
  for (const int cpu : cpus) {
    const auto it = std::find_if(host.begin(), host.end(), [&](const LogicalCpu& c) { return c.cpu == cpu; });
    cores.push_back(it == host.end() ? cpu : it->core);
  }
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

std::vector<int> allowed_cpus() {
  const Bitmap set(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(here(), set.get(), HWLOC_CPUBIND_THREAD) != 0) return {0};
  if (!pretended_topology().empty()) {
    hwloc_bitmap_and(set.get(), set.get(), hwloc_topology_get_allowed_cpuset(here()));
  }
  return numbers_in(set.get());
}

std::string allow_cpus(std::span<const int> cpus) { return bind_to(cpus, HWLOC_CPUBIND_PROCESS); }
std::string allow_cpus_of_thread(std::span<const int> cpus) { return bind_to(cpus, HWLOC_CPUBIND_THREAD); }

// Virtual machines may give processors of several generations the same name.
std::string cpu_model() {
  const hwloc_obj_t package = hwloc_get_obj_by_type(here(), HWLOC_OBJ_PACKAGE, 0);
  const auto known = [&](const char* name) {
    const char* const text = package == nullptr ? nullptr : hwloc_obj_get_info_by_name(package, name);
    return std::string(text == nullptr ? "" : text);
  };
  std::string facts;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) facts += (facts.empty() ? "" : ", ") + name + value;
  };
  add("family ", known("CPUFamilyNumber"));
  add("model ", known("CPUModelNumber"));
  add("stepping ", known("CPUStepping"));
  add("", pretended_topology().empty() ? clock_text() : "");
  const std::string model = known("CPUModel");
  return model.empty() || facts.empty() ? model : model + " (" + facts + ")";
}

// x <- x ^ x << 13;  x <- x ^ x >> 7;  x <- x ^ x << 17       (Marsaglia 2003)
// Six operations of one cycle each; none can start before the previous one has ended.
double measure_clock_ghz(int rounds) {
  constexpr int kTrials = 5;
  constexpr double kCyclesPerRound = 6;
  volatile std::uint64_t sink = 88172645463325252;
  double best = 0;
  for (int trial = 0; trial < kTrials; ++trial) {  // the fastest trial, since others may be interrupted
    const Stopwatch watch;
    std::uint64_t x = sink;
    for (int round = 0; round < rounds; ++round) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
    }
    sink = x;
    best = std::max(best, kCyclesPerRound * rounds / watch.seconds() / 1e9);
  }
  return best;
}

double busy_seconds(std::span<const int> cpus, const std::filesystem::path& statistics) {
  std::ifstream file(statistics);
  double ticks = 0;
  std::size_t found = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name;
    // user and nice include the time of guests.
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft_interrupts = 0,
           stolen = 0;
    fields >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft_interrupts >> stolen;
    if (!fields || !std::ranges::any_of(cpus, [&](int cpu) { return name == "cpu" + std::to_string(cpu); }))
      continue;
    ticks += user + nice + system + interrupts + soft_interrupts + stolen;
    ++found;
  }
  if (found == 0 || found != cpus.size()) return std::numeric_limits<double>::quiet_NaN();
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::vector<int> cpus_of_worker(const WorkerPlace& place, std::span<const int> cpus,
                                std::span<const LogicalCpu> host) {
  std::set<std::pair<int, int>> cores, host_cores;  // node, core
  for (const LogicalCpu& cpu : host) {
    host_cores.emplace(cpu.node, cpu.core);
    if (std::binary_search(cpus.begin(), cpus.end(), cpu.cpu)) cores.emplace(cpu.node, cpu.core);
  }
  if (cores.empty()) return {cpus.begin(), cpus.end()};
  const bool shared = std::ssize(cores) >= place.workers_of_host || cores == host_cores;
  const auto worker = static_cast<std::size_t>(shared ? place.first + place.worker : place.worker);
  const auto workers = static_cast<std::size_t>(shared ? place.workers_of_host : place.workers);
  const int node =
      std::next(cores.begin(), static_cast<std::ptrdiff_t>(worker * cores.size() / workers))->first;
  std::vector<int> near;
  for (const LogicalCpu& cpu : host) {
    if (cpu.node == node && std::binary_search(cpus.begin(), cpus.end(), cpu.cpu)) near.push_back(cpu.cpu);
  }
  return near;
}

std::map<int, int> workers_by_node(WorkerPlace rank, std::span<const int> cpus,
                                   std::span<const LogicalCpu> host) {
  std::map<int, int> workers;
  for (rank.worker = 0; rank.worker < rank.workers; ++rank.worker) {
    const int near = cpus_of_worker(rank, cpus, host).front();
    const auto on = std::ranges::find(host, near, &LogicalCpu::cpu);
    if (on != host.end()) ++workers[on->node];
  }
  return workers;
}

int numa_node_of_rank(const WorkerPlace& rank, std::span<const int> cpus, std::span<const LogicalCpu> host) {
  const std::map<int, int> workers = workers_by_node(rank, cpus, host);
  const auto most = std::ranges::max_element(workers, {}, &std::map<int, int>::value_type::second);
  return most == workers.end() ? 0 : most->first;
}

void stay_in_numa_node(const WorkerPlace& place) {
  const std::vector<int> all = allowed_cpus();
  const std::vector<int> near = cpus_of_worker(place, all, online_cpus());
  if (near.size() < all.size()) allow_cpus_of_thread(near);  // otherwise it stays where it may be now
}

}  // namespace convoke::os
