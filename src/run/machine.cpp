#include "convoke/run/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "convoke/core/text.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/memory.hpp"
#include "convoke/os/processors.hpp"

namespace convoke::run {

namespace {

std::string to_line(const Placement& placement) {
  return fmt::format("{} {} {} {}", placement.node, placement.host, placement.quota,
                     fmt::join(placement.cores, " "));
}

Placement from_line(const std::string& line) {
  Placement placement;
  std::istringstream in(line);
  in >> placement.node >> placement.host >> placement.quota;
  placement.cores.assign(std::istream_iterator<int>(in), {});
  return placement;
}

}  // namespace

std::vector<Sharing> sharings(std::span<const Placement> placements, int node) {
  std::vector<Sharing> groups;
  for (int rank = 0; rank < static_cast<int>(placements.size()); ++rank) {
    const Placement& placement = placements[static_cast<std::size_t>(rank)];
    if (placement.node != node) continue;
    Sharing joined{{rank}, placement.cores};
    std::erase_if(groups, [&](const Sharing& group) {
      std::vector<int> common, all;
      std::set_intersection(group.cores.begin(), group.cores.end(), joined.cores.begin(), joined.cores.end(),
                            std::back_inserter(common));
      if (common.empty()) return false;
      std::set_union(group.cores.begin(), group.cores.end(), joined.cores.begin(), joined.cores.end(),
                     std::back_inserter(all));
      joined.cores = all;
      joined.ranks.insert(joined.ranks.end(), group.ranks.begin(), group.ranks.end());
      return true;
    });
    groups.push_back(std::move(joined));
  }
  for (Sharing& group : groups) std::sort(group.ranks.begin(), group.ranks.end());
  return groups;
}

namespace {

// Sets the worker threads of the ranks of `node`, if their number is not requested.
void share_cores(std::span<const Placement> placements, int node, std::vector<int>& threads) {
  const std::vector<Sharing> groups = sharings(placements, node);
  std::size_t local_ranks = 0;
  for (const Sharing& group : groups) local_ranks += group.ranks.size();
  for (const Sharing& group : groups) {
    for (const int rank : group.ranks) {
      auto share = static_cast<double>(group.cores.size() / group.ranks.size());
      const double quota = placements[static_cast<std::size_t>(rank)].quota;
      if (quota > 0) share = std::min(share, std::floor(quota / static_cast<double>(local_ranks)));
      threads[static_cast<std::size_t>(rank)] = std::max(1, static_cast<int>(share));
    }
  }
}

// Returns the worker threads of every rank. Each node is looked at once, not once for each of its ranks.
std::vector<int> threads_of_all(std::span<const Placement> placements, int requested) {
  std::vector<int> threads(placements.size(), requested);
  for (int node = 0; requested <= 0 && node < std::ssize(placements); ++node) {
    const bool is_node =
        placements[static_cast<std::size_t>(node)].node == node;  // its first rank has its number
    if (is_node) share_cores(placements, node, threads);
  }
  return threads;
}

}  // namespace

std::string placement_text(const Machine& machine) {
  constexpr std::size_t kGroups = 4, kHosts = 2;
  std::vector<std::string> hosts;
  for (int node = 0; node < machine.ranks && hosts.size() < kHosts; ++node) {
    const Placement& first = machine.placements[static_cast<std::size_t>(node)];
    if (first.node != node) continue;  // only the first rank of a node has its number
    std::vector<std::string> groups;
    for (const Sharing& group : sharings(machine.placements, node)) {
      groups.push_back(fmt::format("rank{} {} on core{} {}", group.ranks.size() > 1 ? "s" : "",
                                   os::format_ranges(group.ranks), group.cores.size() > 1 ? "s" : "",
                                   os::format_ranges(group.cores)));
    }
    hosts.push_back(fmt::format("{}: {}", first.host, listing(groups, kGroups)));
  }
  const std::int64_t left = machine.nodes - std::ssize(hosts);
  return fmt::format("{}{}", fmt::join(hosts, "; "), left > 0 ? "; " + counted(left, "host") + " more" : "");
}

Machine machine_of(std::vector<Placement> placements, int rank) {
  Machine machine;
  machine.placements = std::move(placements);
  const Placement& mine = machine.placements[static_cast<std::size_t>(rank)];
  machine.host = mine.host;
  machine.rank = rank;
  machine.ranks = static_cast<int>(machine.placements.size());
  machine.nodes = 0;
  machine.local_ranks = 0;
  for (int other = 0; other < machine.ranks; ++other) {
    const Placement& placement = machine.placements[static_cast<std::size_t>(other)];
    if (placement.node == other) ++machine.nodes;
    if (placement.node != mine.node) continue;
    if (other == rank) machine.local_rank = machine.local_ranks;
    ++machine.local_ranks;
  }
  machine.cores = machine.threads_of(rank, 0);
  return machine;
}

Machine survey(const mpi::Communicator& world) {
  const mpi::Communicator node = world.split_node();
  Placement mine;
  mine.host = os::host_name();
  mine.node = std::stoi(node.broadcast(std::to_string(world.rank())));
  mine.cores = os::cores_of(os::allowed_cpus(), os::online_cpus());
  mine.quota = os::cpu_quota();
  const std::string all = world.broadcast(join(world.gather(to_line(mine)), "\n"));
  std::vector<Placement> placements;
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);) placements.push_back(from_line(line));
  return machine_of(std::move(placements), world.rank());
}

int Machine::threads_of(int other, int requested) const {
  if (requested > 0) return requested;
  const auto index = static_cast<std::size_t>(other);
  std::vector<int> threads(placements.size());
  share_cores(placements, placements[index].node, threads);
  return threads[index];
}

int Machine::all_threads(int requested) const {
  const std::vector<int> threads = threads_of_all(placements, requested);
  return std::accumulate(threads.begin(), threads.end(), 0);
}

int Machine::cores_of_all(int requested) const {
  const std::vector<int> threads_of_each = threads_of_all(placements, requested);
  int all = 0;
  for (int node = 0; node < ranks; ++node) {
    const Placement& first = placements[static_cast<std::size_t>(node)];
    if (first.node != node) continue;  // a node's number is that of its first rank
    int used = 0;
    for (const Sharing& group : sharings(placements, node)) {
      int threads = 0;
      for (const int other : group.ranks) threads += threads_of_each[static_cast<std::size_t>(other)];
      used += std::min(threads, static_cast<int>(group.cores.size()));
    }
    if (first.quota > 0) used = std::min(used, static_cast<int>(first.quota));
    all += std::max(1, used);
  }
  return all;
}

namespace {

namespace fs = std::filesystem;

// SMBIOS 3.7, table 78: memory device, type.
constexpr std::array<std::pair<std::uint8_t, std::string_view>, 11> kKinds{{{0x13, "DDR2"},
                                                                            {0x18, "DDR3"},
                                                                            {0x1A, "DDR4"},
                                                                            {0x1D, "LPDDR3"},
                                                                            {0x1E, "LPDDR4"},
                                                                            {0x20, "HBM"},
                                                                            {0x21, "HBM2"},
                                                                            {0x22, "DDR5"},
                                                                            {0x23, "LPDDR5"},
                                                                            {0x24, "HBM3"},
                                                                            {0x1F, "persistent"}}};

// Returns "Registered-DDR4" from a memory controller that the kernel monitors.
std::string watched_kind() {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator("/sys/devices/system/edac/mc", error)) {
    if (entry.path().filename() != "dimm_mem_type") continue;
    std::ifstream in(entry.path());
    std::string kind;
    if (std::getline(in, kind) && kind != "Unknown") return kind.substr(kind.rfind('-') + 1);
  }
  return {};
}

}  // namespace

// A structure: type, length of its fixed part, handle (2 bytes), ...; then strings, the last one ended by two
// zeros.
std::string memory_kind_in(std::span<const std::uint8_t> smbios) {
  constexpr std::uint8_t kMemoryDevice = 17, kEnd = 127;
  constexpr std::size_t kKindAt = 0x12;
  while (smbios.size() >= 4) {
    const std::uint8_t type = smbios[0];
    const std::size_t length = smbios[1];
    if (type == kEnd || length < 4 || length > smbios.size()) return {};
    if (type == kMemoryDevice && length > kKindAt) {
      for (const auto& [code, name] : kKinds) {
        if (smbios[kKindAt] == code) return std::string(name);
      }
    }
    std::size_t end = length;
    while (end + 1 < smbios.size() && (smbios[end] != 0 || smbios[end + 1] != 0)) ++end;
    if (end + 2 > smbios.size()) return {};
    smbios = smbios.subspan(end + 2);
  }
  return {};
}

std::string memory_kind() {
  if (std::string kind = watched_kind(); !kind.empty()) return kind;
  std::ifstream in("/sys/firmware/dmi/tables/DMI", std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return memory_kind_in({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

double share_of_others(double busy, double used, double cores, double workers, double seconds) {
  const double others = busy - used - std::max(0.0, cores - workers) * seconds;
  return std::clamp(others / (workers * seconds), 0.0, 1.0);
}

OtherPrograms::OtherPrograms(const Machine& machine) {
  const Placement& mine = machine.placements[static_cast<std::size_t>(machine.rank)];
  for (const Sharing& group : sharings(machine.placements, mine.node)) {
    if (group.ranks.front() != machine.rank) continue;
    for (const os::LogicalCpu& cpu : os::online_cpus()) {
      if (std::ranges::binary_search(group.cores, cpu.core)) cpus_.push_back(cpu.cpu);
    }
    cores_ = static_cast<double>(group.cores.size());
  }
  busy_ = busy();
  used_ = os::process_cpu_seconds();
}

double OtherPrograms::busy() const { return cpus_.empty() ? 0 : os::busy_seconds(cpus_); }

double OtherPrograms::share(int workers, const mpi::Communicator& world) const {
  double sums[] = {busy() - busy_, os::process_cpu_seconds() - used_, cores_};
  double seconds[] = {watch_.seconds()};
  world.sum(sums);
  world.max(seconds);
  if (seconds[0] < 1) return std::numeric_limits<double>::quiet_NaN();
  return share_of_others(sums[0], sums[1], sums[2], workers, seconds[0]);
}

}  // namespace convoke::run
