#include "convoke/doctor/topology.hpp"

#include <filesystem>
#include <fstream>

#include "convoke/os/processors.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace doctor = convoke::doctor;
namespace os = convoke::os;
namespace run = convoke::run;
using doctor::Severity;

namespace {

/// A host of two NUMA nodes with two cores of two hardware threads each: CPUs 0-3 are the first threads of
/// cores 0-3, 4-7 the second, in Linux's numbering.
class Host {
 public:
  Host() {
    write("cpu/online", "0-7");
    for (int cpu = 0; cpu < 8; ++cpu) {
      write("cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
            std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4));
    }
    write("node/online", "0-1");
    write("node/node0/cpulist", "0-1,4-5");
    write("node/node1/cpulist", "2-3,6-7");
  }
  std::vector<os::LogicalCpu> cpus() const { return os::online_cpus(folder_.path()); }

 private:
  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text << "\n";
  }
  TemporaryFolder folder_;
};

run::Machine machine(std::vector<std::vector<int>> cores) {
  std::vector<run::Placement> placements;
  for (std::vector<int>& each : cores) placements.push_back({"alpha", 0, std::move(each), 0});
  return run::machine_of(std::move(placements), 0);
}

}  // namespace

TEST_CASE("processors are read from the kernel's description") {
  const std::vector<os::LogicalCpu> cpus = Host().cpus();
  REQUIRE(cpus.size() == 8);
  CHECK(cpus[6].cpu == 6);
  CHECK(cpus[6].core == 2);
  CHECK(cpus[6].node == 1);
  CHECK(os::cores_of(std::vector<int>{1, 5, 6}, cpus) == std::vector<int>{1, 2});
  CHECK(os::parse_ranges("0-2,8, 10-11\n") == std::vector<int>{0, 1, 2, 8, 10, 11});
  CHECK(os::parse_ranges("").empty());
}

TEST_CASE("hardware threads that are used as cores are found") {
  const Host host;
  // Two ranks, each on one hardware thread of core 0.
  const doctor::Topology siblings{.hosts = {{0, host.cpus()}}, .cpus = {{0}, {4}}};
  const auto found = doctor::judge_smt(machine({{0}, {0}}), siblings, 0);
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Severity::kWarning);
  CHECK(found[0].evidence.find(
            "alpha: 2 threads have 2 CPUs, but these are hardware threads of only 1 core (2 each)") == 0);
  // One rank with all eight CPUs.
  const doctor::Topology all{.hosts = {{0, host.cpus()}}, .cpus = {{0, 1, 2, 3, 4, 5, 6, 7}}};
  CHECK(doctor::judge_smt(machine({{0, 1, 2, 3}}), all, 8).size() == 1);
  CHECK(doctor::judge_smt(machine({{0, 1, 2, 3}}), all, 4).empty());
  CHECK(doctor::judge_smt(machine({{0, 1, 2, 3}}), all, 0).empty());
}

TEST_CASE("ranks that span several NUMA nodes are found") {
  const doctor::Topology topology{.hosts = {{0, Host().cpus()}}, .cpus = {{0, 1, 2, 3}, {0, 1, 2, 3}}};
  const auto across = doctor::judge_numa(machine({{0, 2}, {1, 3}}), topology);
  REQUIRE(across.size() == 1);
  CHECK(across[0].severity == Severity::kWarning);
  CHECK(across[0].evidence.find("alpha: the cores of ranks 0-1 belong to several of the 2 NUMA nodes") == 0);
  CHECK(across[0].remedy == "give each NUMA node its own ranks: mpirun --map-by ppr:1:numa:PE=2");
  const auto one = doctor::judge_numa(machine({{0, 1, 2, 3}}), topology);
  REQUIRE(one.size() == 1);
  CHECK(one[0].severity == Severity::kNote);
  CHECK(doctor::judge_numa(machine({{0, 1}, {2, 3}}), topology).empty());
}

TEST_CASE("the binding is drawn") {
  const doctor::Topology topology{.hosts = {{0, Host().cpus()}}, .cpus = {{0, 4, 1, 5}, {2, 6}}};
  CHECK(doctor::binding_map(machine({{0, 1}, {2}}), topology, 0) ==
        "alpha: 4 cores of 2 hardware threads, 2 NUMA nodes\n"
        "  rank 0     ##|..  2 threads, cores 0-1\n"
        "  rank 1     ..|#.  1 thread, core 2\n");
}
