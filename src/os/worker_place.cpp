#include "convoke/os/worker_place.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace convoke::os {

std::vector<int> cpus_of_worker(const WorkerPlace& place, std::span<const int> cpus,
                                std::span<const LogicalCpu> host) {
  std::set<std::pair<int, int>> cores;  // node, core
  for (const LogicalCpu& cpu : host) {
    if (std::binary_search(cpus.begin(), cpus.end(), cpu.cpu)) cores.emplace(cpu.node, cpu.core);
  }
  if (cores.empty()) return {cpus.begin(), cpus.end()};
  const bool shared = std::ssize(cores) >= place.workers_of_host;
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

void stay_in_numa_node(const WorkerPlace& place) {
  const std::vector<int> all = allowed_cpus();
  const std::vector<int> near = cpus_of_worker(place, all, online_cpus());
  if (near.size() < all.size()) allow_cpus_of_thread(near);  // otherwise it stays where it may be now
}

}  // namespace convoke::os
