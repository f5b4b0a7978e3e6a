// Hosts that are not this one: synthetic topologies of hwloc, and files (test/os/topologies).
#include "convoke/core/error.hpp"
#include "convoke/os/processors.hpp"
#include "support/catch.hpp"
#include "support/source_path.hpp"

namespace os = convoke::os;

namespace {

std::vector<os::LogicalCpu> file(const std::string& name) {
  return os::cpus_in(source_path("test/os/topologies/" + name + ".xml"));
}

std::vector<int> numbers(std::span<const os::LogicalCpu> host) {
  std::vector<int> all;
  for (const os::LogicalCpu& cpu : host) all.push_back(cpu.cpu);
  return all;
}

// The NUMA node of each worker of one rank that has `cpus`.
std::vector<int> nodes_of_workers(int workers, std::span<const int> cpus,
                                  std::span<const os::LogicalCpu> host) {
  std::vector<int> nodes;
  for (int worker = 0; worker < workers; ++worker) {
    const std::vector<int> near = os::cpus_of_worker({worker, workers, 0, workers}, cpus, host);
    REQUIRE_FALSE(near.empty());
    nodes.push_back(host[static_cast<std::size_t>(near.front())].node);
    for (const int cpu : near) CHECK(host[static_cast<std::size_t>(cpu)].node == nodes.back());
  }
  return nodes;
}

}  // namespace

TEST_CASE("two sockets of 32 cores with two hardware threads each") {
  const std::vector<os::LogicalCpu> host = os::cpus_in("pack:2 numa:1 core:32 pu:2");
  REQUIRE(host.size() == 128);
  CHECK(os::cores_of(numbers(host), host).size() == 64);
  for (const os::LogicalCpu& cpu : host) {
    CHECK(cpu.core == cpu.cpu / 2 * 2);
    CHECK(cpu.package == cpu.cpu / 64);
    CHECK(cpu.node == cpu.cpu / 64);
    CHECK(cpu.speed == 0);
    CHECK(cpu.allowed);
  }
  // Linux numbers the second hardware threads after all cores.
  const std::vector<os::LogicalCpu> linux = os::cpus_in("pack:2 numa:1 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)");
  CHECK(os::cores_of(std::vector<int>{1, 5, 6}, linux) == std::vector<int>{1, 2});
  CHECK(linux[6].node == 1);
}

TEST_CASE("a NUMA node without memory, a control group of odd cores, two kinds of cores") {
  for (const os::LogicalCpu& cpu : file("no_memory")) {
    CHECK(cpu.package == cpu.cpu / 2);
    CHECK(cpu.node == 0);
  }
  for (const os::LogicalCpu& cpu : file("odd_cores")) CHECK(cpu.allowed == (cpu.cpu % 2 == 1));
  const std::vector<os::LogicalCpu> hybrid = file("hybrid");
  CHECK(numbers(hybrid) == std::vector<int>{0, 1, 2, 3, 4, 6, 8, 10});
  CHECK(os::cores_of(numbers(hybrid), hybrid) == std::vector<int>{0, 2, 4, 6, 8, 10});
  for (const os::LogicalCpu& cpu : hybrid) CHECK(cpu.speed == (cpu.cpu < 4 ? 1 : 0));
}

TEST_CASE("what is no topology is refused with the text and an example") {
  for (const char* text : {"pack:two", "core:0", "CMakeLists.txt", "/etc/passwd"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(os::cpus_in(text), Contains(text) && Contains("hwloc"));
  }
}

TEST_CASE("workers are divided among NUMA nodes in proportion to the cores of their rank") {
  const std::vector<os::LogicalCpu> host = os::cpus_in("pack:2 numa:1 core:4 pu:1");
  const std::vector<int> all = numbers(host), unequal{0, 1, 2, 4};
  CHECK(nodes_of_workers(8, all, host) == std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(nodes_of_workers(2, all, host) == std::vector<int>{0, 1});
  CHECK(nodes_of_workers(4, unequal, host) == std::vector<int>{0, 0, 0, 1});
  CHECK(nodes_of_workers(16, all, host) ==
        std::vector<int>{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1});  // more than cores
  CHECK(os::cpus_of_worker({1, 4, 0, 4}, unequal, host) == std::vector<int>{0, 1, 2});

  // Two ranks of four workers share all cores: each has a node of its own.
  CHECK(os::cpus_of_worker({3, 4, 0, 8}, all, host) == std::vector<int>{0, 1, 2, 3});
  CHECK(os::cpus_of_worker({0, 4, 4, 8}, all, host) == std::vector<int>{4, 5, 6, 7});
  // Each rank has cores of its own in both nodes.
  const std::vector<int> own{2, 3, 6, 7};
  CHECK(os::cpus_of_worker({0, 4, 4, 8}, own, host) == std::vector<int>{2, 3});
  CHECK(os::cpus_of_worker({3, 4, 4, 8}, own, host) == std::vector<int>{6, 7});
  // Both hardware threads of a core belong to its workers.
  const std::vector<os::LogicalCpu> smt = os::cpus_in("pack:2 numa:1 core:2 pu:2");
  CHECK(os::cpus_of_worker({1, 2, 0, 2}, numbers(smt), smt) == std::vector<int>{4, 5, 6, 7});
}

TEST_CASE("a rank belongs to the NUMA node of most of its workers") {
  // The NUMA node of each of `ranks` ranks with `each` workers that share `cpus`.
  const auto nodes = [](std::span<const os::LogicalCpu> host, std::span<const int> cpus, int ranks,
                        int each) {
    std::vector<int> all;
    for (int rank = 0; rank < ranks; ++rank)
      all.push_back(os::numa_node_of_rank({0, each, rank * each, ranks * each}, cpus, host));
    return all;
  };
  const std::vector<os::LogicalCpu> two = os::cpus_in("pack:2 numa:1 core:4 pu:2");
  const std::vector<int> all = numbers(two), second{8, 9, 10, 11}, unequal{0, 2, 4, 8};
  CHECK(nodes(two, all, 2, 4) == std::vector<int>{0, 1});
  CHECK(nodes(two, all, 4, 2) == std::vector<int>{0, 0, 1, 1});
  CHECK(nodes(two, all, 3, 2) == std::vector<int>{0, 0, 1});  // the second has a worker in each
  CHECK(nodes(two, all, 1, 8) == std::vector<int>{0});
  CHECK(nodes(two, second, 1, 2) == std::vector<int>{1});
  CHECK(nodes(two, unequal, 1, 4) == std::vector<int>{0});
  CHECK(nodes(two, all, 8, 1) == std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(nodes(two, all, 16, 1) ==
        std::vector<int>{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1});  // more than cores
  CHECK(os::workers_by_node({0, 2, 2, 6}, all, two) == std::map<int, int>{{0, 1}, {1, 1}});
  const std::vector<os::LogicalCpu> bare = file("no_memory");
  CHECK(nodes(bare, numbers(bare), 2, 2) == std::vector<int>{0, 0});  // the other node has no memory
  const std::vector<os::LogicalCpu> hybrid = file("hybrid");
  CHECK(nodes(hybrid, numbers(hybrid), 3, 2) == std::vector<int>{0, 0, 0});
}

TEST_CASE("on 64 cores in 8 NUMA nodes every node has as many workers as cores, for any number of ranks") {
  const std::vector<os::LogicalCpu> host = os::cpus_in("pack:2 group:4 numa:1 core:8 pu:1");
  const std::vector<int> all = numbers(host);
  for (const int ranks : {1, 2, 4, 8, 16, 32, 64}) {
    std::map<int, int> workers;
    const int each = 64 / ranks;
    for (int rank = 0; rank < ranks; ++rank) {
      for (int worker = 0; worker < each; ++worker) {
        const std::vector<int> near = os::cpus_of_worker({worker, each, rank * each, 64}, all, host);
        ++workers[host[static_cast<std::size_t>(near.front())].node];
      }
    }
    CHECK(workers.size() == 8);
    for (const auto& [node, count] : workers) CHECK(count == 8);
  }
}
