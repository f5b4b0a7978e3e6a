#include "convoke/os/processors.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <sstream>
#include <system_error>

#include "convoke/os/clock.hpp"

namespace convoke::os {
namespace {

namespace fs = std::filesystem;

std::vector<int> ranges_in(const fs::path& file) {
  std::string text;
  std::getline(std::ifstream(file) >> std::ws, text);
  return parse_ranges(text);
}

/// A CPU set of the kernel, of any length.
struct CpuSet {
  explicit CpuSet(int cpus)
      : bytes(CPU_ALLOC_SIZE(static_cast<std::size_t>(cpus))),
        set(CPU_ALLOC(static_cast<std::size_t>(cpus)), [](cpu_set_t* made) { CPU_FREE(made); }) {
    if (!set) throw std::bad_alloc();
    CPU_ZERO_S(bytes, set.get());
  }
  std::size_t bytes;
  std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set;
};

}  // namespace

std::vector<int> parse_ranges(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    std::istringstream range(part);
    int first = 0, last = 0;
    if (!(range >> first)) continue;
    if (range.get() != '-' || !(range >> last)) last = first;
    for (; first <= last; ++first) numbers.push_back(first);
  }
  return numbers;
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

std::vector<LogicalCpu> online_cpus(const fs::path& system) {
  std::vector<int> numbers = ranges_in(system / "cpu/online");
  if (numbers.empty()) numbers = allowed_cpus();
  std::vector<LogicalCpu> cpus;
  for (const int cpu : numbers) {
    const std::vector<int> siblings =
        ranges_in(system / fmt::format("cpu/cpu{}/topology/thread_siblings_list", cpu));
    cpus.push_back({.cpu = cpu, .core = siblings.empty() ? cpu : siblings.front()});
  }
  for (const int node : ranges_in(system / "node/online")) {
    const std::vector<int> members = ranges_in(system / fmt::format("node/node{}/cpulist", node));
    for (LogicalCpu& cpu : cpus) {
      if (std::binary_search(members.begin(), members.end(), cpu.cpu)) cpu.node = node;
    }
  }
  return cpus;
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
  std::vector<int> cpus;
  for (int size = CPU_SETSIZE; size <= 1 << 20; size *= 2) {
    const CpuSet mask(size);
    const bool known = sched_getaffinity(0, mask.bytes, mask.set.get()) == 0;
    if (!known && errno == EINVAL) continue;  // the kernel's mask is longer
    for (int cpu = 0; known && cpu < size; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), mask.bytes, mask.set.get())) cpus.push_back(cpu);
    }
    break;
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

std::string allow_cpus(std::span<const int> cpus) {
  const CpuSet mask(std::max(CPU_SETSIZE, *std::max_element(cpus.begin(), cpus.end()) + 1));
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), mask.bytes, mask.set.get());
  // Binds this thread first, whose success decides; a helper thread of the MPI library may have ended in the
  // meantime.
  if (sched_setaffinity(0, mask.bytes, mask.set.get()) != 0) return std::strerror(errno);
  std::error_code unreadable;
  for (const fs::directory_entry& thread : fs::directory_iterator("/proc/self/task", unreadable)) {
    sched_setaffinity(std::stoi(thread.path().filename().string()), mask.bytes, mask.set.get());
  }
  return {};
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
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

}  // namespace convoke::os
