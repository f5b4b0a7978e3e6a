#include "convoke/engine/model_memory.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "convoke/engine/worker_team.hpp"
#include "convoke/os/processors.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"
#include "support/world.hpp"

using namespace convoke;
using namespace convoke::engine;

namespace {

/// Returns the NUMA node of each page that holds nothing but `values`; -ENOENT: no thread has touched it.
/// Returns no nodes if the kernel does not answer.
std::vector<int> nodes_of_pages(std::span<float> values) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(values.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(values.data() + values.size()) / page * page;
  std::vector<void*> pages;
  for (std::uintptr_t at = begin; at < end; at += page) pages.push_back(reinterpret_cast<void*>(at));
  std::vector<int> nodes(pages.size());
  const auto failed = ::syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, nodes.data(), 0) != 0;
  return failed ? std::vector<int>() : nodes;
}

}  // namespace

TEST_CASE("the ranks of a node see the same arrays, on separate cache lines") {
  const int me = world().rank();
  ModelMemory memory(
      world().split_node(),
      {.parameters = 5, .trainable = 3, .slots = 2, .average = true, .sums = 4, .exact = true, .blocks = 1},
      me + 1);
  CHECK(memory.workers() == world().size() * (world().size() + 1) / 2);
  CHECK(memory.first_worker() == me * (me + 1) / 2);
  const auto aligned = [](const auto& array) {
    return reinterpret_cast<std::uintptr_t>(array.data()) % 64 == 0;
  };
  for (const std::span<float> array :
       {memory.parameters(), memory.state(0).floats(), memory.state(1).floats(), memory.average()}) {
    CHECK(aligned(array));
    for (const float value : array) CHECK(value == 0);
  }
  memory.barrier();

  // Each rank writes to what it owns, and the next one reads it.
  if (me == 0) memory.parameters()[4] = 7;
  memory.sums(memory.first_worker()).fixed[3] = 100 + me;
  memory.barrier();
  const int next = (me + 1) % world().size();
  CHECK(memory.parameters()[4] == 7);
  CHECK(memory.sums(next * (next + 1) / 2).fixed[3] == 100 + next);
  CHECK(aligned(memory.sums(0).floats));
}

TEST_CASE("a barrier holds every rank until the last has arrived") {
  ModelMemory memory(world().split_node(), {.parameters = 1, .sums = 1}, 1);
  // Every rank adds to its own number between two barriers, so all see the same numbers after a barrier.
  for (std::int64_t round = 1; round <= 2000; ++round) {
    memory.sums(world().rank()).completion->publish(static_cast<std::uint64_t>(round));
    memory.barrier();
    for (int rank = 0; rank < world().size(); ++rank) {
      if (memory.sums(rank).completion->count() != static_cast<std::uint64_t>(round)) {
        FAIL_CHECK("rank " << rank << " is in another round");
      }
    }
    memory.barrier();
  }
}

TEST_CASE("a page of the sums belongs to the NUMA node of the worker whose sums they are") {
  constexpr int kWorkers = 2;
  const mpi::Communicator host = world().split_node();
  ModelMemory memory(host, {.parameters = 1, .sums = std::size_t{1} << 16}, kWorkers);
  const os::WorkerPlace place{0, kWorkers, host.rank() * kWorkers, host.size() * kWorkers};
  NodeTeam team(memory, place);
  const auto sums = [&](int worker) { return memory.sums(memory.first_worker() + worker).floats; };
  const bool answers = !nodes_of_pages(sums(0)).empty();
  // Nobody has touched them before their worker, not even to set them to zero.
  for (int worker = 0; answers && worker < kWorkers; ++worker) {
    const std::vector<int> before = nodes_of_pages(sums(worker));
    CHECK(before.size() >= 63);
    CHECK(std::ranges::count(before, -ENOENT) == std::ssize(before));
  }
  team.mine().run([&](int worker) { std::ranges::fill(sums(worker), 0.0F); });
  const std::vector<os::LogicalCpu>& cpus = os::online_cpus();
  const bool several =
      std::ranges::any_of(cpus, [&](const os::LogicalCpu& cpu) { return cpu.node != cpus.front().node; });
  for (int worker = 1; answers && worker < kWorkers;
       ++worker) {  // the first may run on all nodes of the rank
    const std::vector<int> near =
        os::cpus_of_worker({worker, kWorkers, place.first, place.workers_of_host}, os::allowed_cpus(), cpus);
    const int node = std::ranges::find(cpus, near.front(), &os::LogicalCpu::cpu)->node;
    const std::vector<int> after = nodes_of_pages(sums(worker));
    CHECK(std::ranges::count(after, node) == std::ssize(after));
  }
  memory.barrier();
  if (!answers) return skip("the kernel does not say on which NUMA node a page is (move_pages)");
  if (!several) return skip("only that workers touch their sums first; needs two NUMA nodes for the rest");
}
