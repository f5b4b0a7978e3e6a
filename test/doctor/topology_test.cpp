#include "convoke/doctor/topology.hpp"

#include <string>

#include "convoke/os/processors.hpp"
#include "support/catch.hpp"
#include "support/source_path.hpp"

namespace doctor = convoke::doctor;
namespace os = convoke::os;
namespace run = convoke::run;
using doctor::Severity;

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
  const auto found = doctor::check_smt(machine({{0}, {0}}), siblings, 0);
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Severity::kWarning);
  CHECK(found[0].evidence.find(
            "alpha: 2 threads have 2 CPUs, but these are hardware threads of only 1 core (2 each)") == 0);
  // One rank with all eight CPUs.
  const doctor::Topology all{.hosts = {{0, host.cpus()}}, .cpus = {{0, 1, 2, 3, 4, 5, 6, 7}}};
  CHECK(doctor::check_smt(machine({{0, 1, 2, 3}}), all, 8).size() == 1);
  CHECK(doctor::check_smt(machine({{0, 1, 2, 3}}), all, 4).empty());
  CHECK(doctor::check_smt(machine({{0, 1, 2, 3}}), all, 0).empty());
}

TEST_CASE("ranks that span several NUMA nodes are found") {
  const doctor::Topology topology{.hosts = {{0, Host().cpus()}}, .cpus = {{0, 1, 2, 3}, {0, 1, 2, 3}}};
  const auto across = doctor::check_numa(machine({{0, 2}, {1, 3}}), topology);
  REQUIRE(across.size() == 1);
  CHECK(across[0].severity == Severity::kWarning);
  CHECK(across[0].evidence.find("alpha: the cores of ranks 0-1 belong to several of the 2 NUMA nodes") == 0);
  CHECK(across[0].remedy == "give each NUMA node its own ranks: mpirun --map-by ppr:1:numa:PE=2");
  const auto one = doctor::check_numa(machine({{0, 1, 2, 3}}), topology);
  REQUIRE(one.size() == 1);
  CHECK(one[0].severity == Severity::kNote);
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
  const auto all = doctor::check_speeds(machine({{0, 2, 4, 6, 8, 10}}), topology);
  REQUIRE(all.size() == 1);
  CHECK(all[0].severity == Severity::kNote);
  CHECK(all[0].evidence == "alpha: 4 of the 6 cores are slower than the others, which wait for them");
  CHECK(all[0].remedy == "compare with the fast cores alone: taskset -c \"0-3\"");
  CHECK(doctor::check_speeds(machine({{0, 2}}), topology).empty());
  CHECK(doctor::check_speeds(machine({{0, 1}}), {.hosts = {{0, Host().cpus()}}, .cpus = {{0}}}).empty());
  // Their fast cores have two hardware threads.
  CHECK(doctor::check_smt(machine({{0, 2, 4, 6, 8, 10}}), topology, 8).size() == 1);
}
