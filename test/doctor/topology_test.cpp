#include "convoke/doctor/processor.hpp"

#include "convoke/core/text.hpp"
#include "convoke/doctor/binding.hpp"
#include "convoke/os/processors.hpp"
#include "convoke/slurm/layout.hpp"
#include "doctor/told.hpp"
#include "support/source_path.hpp"

namespace doctor = convoke::doctor;
namespace slurm = convoke::slurm;
namespace os = convoke::os;
namespace run = convoke::run;

namespace {

/// A host of two NUMA nodes with two cores of two hardware threads each: CPUs 0-3 are the first threads of
/// cores 0-3, 4-7 the second, in Linux's numbering.
struct Host {
  std::vector<os::LogicalCpu> cpus() const {
    return os::cpus_in("pack:2 numa:1 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)");
  }
};

std::vector<os::LogicalCpu> hybrid() { return os::cpus_in(source_path("test/os/topologies/hybrid.xml")); }

run::Machine machine(std::vector<std::vector<int>> cores) {
  std::vector<run::Placement> placements;
  for (std::vector<int>& each : cores) placements.push_back({"alpha", 0, std::move(each), 0});
  return run::machine_of(std::move(placements), 0);
}

}  // namespace

TEST_CASE("lists of the kernel are read") {
  CHECK(os::parse_ranges("0-2,8,10-11\n") == std::vector<int>{0, 1, 2, 8, 10, 11});
  CHECK(os::parse_ranges("").empty());
  CHECK(os::parse_ranges("none").empty());
}

TEST_CASE("hardware threads that are used as cores are found") {
  const Host host;
  // Two ranks, each on one hardware thread of core 0.
  const doctor::Topology siblings{.hosts = {{0, host.cpus()}}, .cpus = {{0}, {4}}};
  CHECK_THAT(
      told(doctor::check_smt(machine({{0}, {0}}), siblings, 0)),
      StartsWith("warning: alpha: 2 threads have 2 CPUs, but these are hardware threads of only 1 core "
                 "(2 each)"));
  // One rank with all eight CPUs.
  const doctor::Topology all{.hosts = {{0, host.cpus()}}, .cpus = {{0, 1, 2, 3, 4, 5, 6, 7}}};
  CHECK(doctor::check_smt(machine({{0, 1, 2, 3}}), all, 8).size() == 1);
  CHECK(doctor::check_smt(machine({{0, 1, 2, 3}}), all, 4).empty());
  CHECK(doctor::check_smt(machine({{0, 1, 2, 3}}), all, 0).empty());
}

TEST_CASE("ranks that span several NUMA nodes are found") {
  const doctor::Topology topology{.hosts = {{0, Host().cpus()}}, .cpus = {{0, 1, 2, 3}, {0, 1, 2, 3}}};
  const std::string across = told(doctor::check_numa(machine({{0, 2}, {1, 3}}), topology));
  CHECK_THAT(across,
             StartsWith("warning: alpha: the cores of ranks 0-1 belong to several of the 2 NUMA nodes"));
  CHECK_THAT(across, EndsWith(" | give each NUMA node its own ranks: mpirun --map-by ppr:1:numa:PE=2"));
  CHECK_THAT(told(doctor::check_numa(machine({{0, 1, 2, 3}}), topology)), StartsWith("note: "));
  CHECK(doctor::check_numa(machine({{0, 1}, {2, 3}}), topology).empty());
}

TEST_CASE("the binding is drawn") {
  const doctor::Topology topology{.hosts = {{0, Host().cpus()}}, .cpus = {{0, 4, 1, 5}, {2, 6}}};
  CHECK(doctor::binding_map(machine({{0, 1}, {2}}), topology, 0) ==
        "alpha: 4 cores of 2 hardware threads, 2 sockets, 2 NUMA nodes\n"
        "  rank 0     ##|..  2 threads (2 on node 0), cores 0-1\n"
        "  rank 1     ..|#.  1 thread (1 on node 1), core 2\n");
  const std::vector<int> all{0, 1, 2, 3, 4, 5, 6, 7};
  CHECK(doctor::binding_map(machine({{0, 1, 2, 3}, {0, 1, 2, 3}}),
                            {.hosts = {{0, Host().cpus()}}, .cpus = {all, all}}, 0) ==
        "alpha: 4 cores of 2 hardware threads, 2 sockets, 2 NUMA nodes\n"
        "  rank 0     ##|##  2 threads (2 on node 0), cores 0-3\n"
        "  rank 1     ##|##  2 threads (2 on node 1), cores 0-3\n");
}

TEST_CASE("slow cores of a processor with two kinds are found if they are used") {
  const doctor::Topology topology{.hosts = {{0, hybrid()}}, .cpus = {{0, 1, 2, 3, 4, 6, 8, 10}}};
  CHECK(
      told(doctor::check_speeds(machine({{0, 2, 4, 6, 8, 10}}), topology)) ==
      "note: alpha: 4 of the 6 cores are slower than the others, which wait for them | compare with the fast "
      "cores alone: taskset -c \"0-3\"");
  CHECK(doctor::check_speeds(machine({{0, 2}}), topology).empty());
  CHECK(doctor::check_speeds(machine({{0, 1}}), {.hosts = {{0, Host().cpus()}}, .cpus = {{0}}}).empty());
  // Their fast cores have two hardware threads.
  CHECK(doctor::check_smt(machine({{0, 2, 4, 6, 8, 10}}), topology, 8).size() == 1);
}

TEST_CASE("everything that follows from the topology of a host, for eight hosts") {
  // Two ranks, both bound to the first core, without an option that says so: the binding is fixed.
  struct Row {
    const char* topology;  ///< or a file of test/os/topologies
    int cores, sockets, hardware_threads;
    std::vector<std::vector<int>> bound;  ///< cores of each of the two ranks after the fix
    std::vector<int> threads;             ///< of each of the two ranks, by default
    std::vector<int> numa_nodes;          ///< in which the two ranks run
    std::vector<int> workers;             ///< of one rank with all cores, in each NUMA node
    const char* findings;                 ///< of one rank with all cores and a thread for each CPU
    std::vector<std::int64_t> layout;     ///< in Slurm, 64 micro-batches: nodes, ranks a node, cores a rank
  };
  const std::vector<Row> rows{
      {"core:1", 1, 1, 1, {{}, {}}, {1, 1}, {0, 0}, {1}, "", {4, 1, 1}},
      {"core:2", 2, 1, 1, {{}, {1}}, {1, 1}, {0, 0}, {2}, "", {4, 1, 2}},
      {"core:8 pu:2", 8, 1, 2, {{0, 2, 4, 6}, {8, 10, 12, 14}}, {4, 4}, {0, 0}, {8}, "smt", {4, 1, 8}},
      {"pack:2 numa:1 core:2 pu:2", 4, 2, 2, {{0, 2}, {4, 6}}, {2, 2}, {0, 1}, {2, 2}, "numa smt", {4, 2, 2}},
      {"group:4 numa:1 core:1", 4, 1, 1, {{0, 1}, {2, 3}}, {2, 2}, {0, 2}, {1, 1, 1, 1}, "numa", {4, 1, 4}},
      {"hybrid", 6, 1, 2, {{0, 2, 4}, {6, 8, 10}}, {3, 3}, {0, 0}, {6}, "cores smt", {4, 1, 6}},
      {"no_memory", 4, 2, 1, {{0, 1}, {2, 3}}, {2, 2}, {0, 0}, {4}, "", {4, 2, 2}},
      {"odd_cores", 4, 1, 1, {{1, 3}, {5, 7}}, {2, 2}, {0, 0}, {4}, "", {4, 1, 4}},
  };
  for (const Row& expected : rows) {
    CAPTURE(expected.topology);
    const std::string text = expected.topology;
    const std::vector<os::LogicalCpu> host = os::cpus_in(
        text.find(':') != std::string::npos ? text : source_path("test/os/topologies/" + text + ".xml"));
    std::vector<int> cpus;
    std::set<int> sockets;
    for (const os::LogicalCpu& cpu : host) {
      if (cpu.allowed) cpus.push_back(cpu.cpu);
      sockets.insert(cpu.package);
    }
    const std::vector<int> cores = os::cores_of(cpus, host);
    CHECK(std::ssize(cores) == expected.cores);
    CHECK(std::ssize(sockets) == expected.sockets);

    const std::vector<int> first{cores.front()};
    const std::vector<doctor::AvailableCores> available(2, {.cores = cores});
    const auto bound = doctor::better_cores(machine({first, first}).placements, available, 0);
    CHECK(bound == expected.bound);
    const run::Machine two = bound[0].empty() ? machine({first, first}) : machine({bound[0], bound[1]});
    for (int rank = 0; rank < 2; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      CHECK(two.threads_of(rank, 0) == expected.threads[index]);
      std::vector<int> own;
      for (const os::LogicalCpu& cpu : host) {
        const std::vector<int>& mine = two.placements[index].cores;
        if (std::binary_search(mine.begin(), mine.end(), cpu.core)) own.push_back(cpu.cpu);
      }
      const int each = two.threads_of(rank, 0);
      CHECK(os::numa_node_of_rank({0, each, rank * each, 2 * each}, own, host) == expected.numa_nodes[index]);
    }

    const run::Machine one = machine({cores});
    CHECK(one.threads_of(0, 0) == expected.cores);
    std::vector<int> workers;
    for (const auto& [node, count] : os::workers_by_node({0, expected.cores, 0, expected.cores}, cpus, host))
      workers.push_back(count);
    CHECK(workers == expected.workers);
    const doctor::Topology topology{.hosts = {{0, host}}, .cpus = {cpus}};
    std::set<std::string> findings;
    for (const auto& found : {doctor::check_smt(one, topology, static_cast<int>(cpus.size())),
                              doctor::check_numa(one, topology), doctor::check_speeds(one, topology)}) {
      for (const doctor::Finding& finding : found) findings.insert(finding.subject);
    }
    CHECK(convoke::join(std::vector(findings.begin(), findings.end()), " ") == expected.findings);

    slurm::Partition partition;
    partition.kinds = {{4, expected.sockets, expected.cores, expected.hardware_threads, 64000}};
    slurm::Workload work;
    work.name = "net";
    work.most_workers = 64;
    const slurm::Layout layout = slurm::lay_out(work, {}, &partition);
    CHECK(std::vector<std::int64_t>{layout.nodes, layout.ranks_per_node, layout.cpus_per_rank} ==
          expected.layout);
  }
}
