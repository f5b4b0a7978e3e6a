#include "convoke/os/worker_place.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace convoke::os {

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
