#include "convoke/run/machine.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>

#include "convoke/core/text.hpp"
#include "convoke/mpi/session.hpp"
#include "run/control_groups.hpp"

namespace convoke::run {
namespace {

namespace fs = std::filesystem;

// The physical core of a logical CPU, by its first hardware thread.
int core_of(int cpu) {
  std::ifstream siblings(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
  int first = cpu;
  return siblings >> first ? first : cpu;
}

std::vector<int> allowed_cores() {
  std::vector<int> cores;
  for (int size = CPU_SETSIZE; size <= 1 << 20; size *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(size));
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(size));
    CPU_ZERO_S(bytes, set);
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    for (int cpu = 0; known && cpu < size; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set)) cores.push_back(core_of(cpu));
    }
    CPU_FREE(set);
    if (known || errno != EINVAL) break;  // EINVAL: the kernel's mask is longer
  }
  if (cores.empty()) cores.push_back(0);
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

// "200000 100000" (v2: cpu.max) or the two files of v1; 0 if there is no limit.
double quota_of(const fs::path& group, bool unified) {
  double quota = 0, period = 0;
  if (unified) {
    std::ifstream(group / "cpu.max") >> quota >> period;  // "max 100000" leaves 0
  } else {
    std::ifstream(group / "cpu.cfs_quota_us") >> quota;  // -1: none
    std::ifstream(group / "cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

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

// Ranks of a node whose bindings overlap, directly or through others, and the cores they share.
struct Sharing {
  std::vector<int> ranks;
  std::vector<int> cores;
};

std::vector<Sharing> sharings(const std::vector<Placement>& placements, int node) {
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

int share_of(const Machine& machine, int rank) {
  const Placement& mine = machine.placements[static_cast<std::size_t>(rank)];
  double share = 1;
  int local_ranks = 0;
  for (const Sharing& group : sharings(machine.placements, mine.node)) {
    local_ranks += static_cast<int>(group.ranks.size());
    if (std::find(group.ranks.begin(), group.ranks.end(), rank) == group.ranks.end()) continue;
    share = static_cast<double>(group.cores.size() / group.ranks.size());
  }
  if (mine.quota > 0) share = std::min(share, std::floor(mine.quota / local_ranks));
  return std::max(1, static_cast<int>(share));
}

}  // namespace

double cpu_quota(const fs::path& membership, const fs::path& mount) {
  double lowest = 0;
  for (const ControlGroup& group : control_groups("cpu", membership, mount)) {
    const double quota = quota_of(group.folder, group.unified);
    if (quota > 0) lowest = lowest > 0 ? std::min(lowest, quota) : quota;
  }
  return lowest;
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
  return join(parts);
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
  machine.cores = share_of(machine, rank);
  return machine;
}

Machine survey(const mpi::Communicator& world) {
  const mpi::Communicator node = world.split_node();
  Placement mine;
  mine.host = mpi::Session::host();
  mine.node = std::stoi(node.broadcast(std::to_string(world.rank())));
  mine.cores = allowed_cores();
  mine.quota = cpu_quota();
  const std::string all = world.broadcast(join(world.gather(to_line(mine)), "\n"));
  std::vector<Placement> placements;
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);) placements.push_back(from_line(line));
  return machine_of(std::move(placements), world.rank());
}

std::vector<std::string> Machine::findings(int requested) const {
  std::vector<std::string> found;
  for (int node = 0; node < ranks; ++node) {
    const Placement& first = placements[static_cast<std::size_t>(node)];
    if (first.node != node) continue;
    int node_threads = 0;
    for (const Sharing& group : sharings(placements, node)) {
      int threads = 0;
      for (const int member : group.ranks) threads += requested > 0 ? requested : share_of(*this, member);
      node_threads += threads;
      if (threads <= static_cast<int>(group.cores.size())) continue;
      found.push_back(fmt::format(
          "{}: rank{} {} run{} {} threads on core{} {}: start fewer ranks, lower run.threads, or give "
          "every rank cores of its own (mpirun --map-by slot:PE=N), or all of them (--bind-to none)",
          first.host, group.ranks.size() > 1 ? "s" : "", format_ranges(group.ranks),
          group.ranks.size() > 1 ? "" : "s", threads, group.cores.size() > 1 ? "s" : "",
          format_ranges(group.cores)));
    }
    if (first.quota > 0 && node_threads > std::ceil(first.quota)) {
      found.push_back(
          fmt::format("{}: {} threads, but the control group grants {:.1f} CPUs: lower run.threads, "
                      "start fewer ranks or raise the limit",
                      first.host, node_threads, first.quota));
    }
  }
  return found;
}

}  // namespace convoke::run
