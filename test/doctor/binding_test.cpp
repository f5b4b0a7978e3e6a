#include "convoke/doctor/binding.hpp"

#include <sys/stat.h>

#include "doctor/told.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/variable.hpp"

namespace doctor = convoke::doctor;
namespace run = convoke::run;
using doctor::AvailableCores;
using run::Placement;

namespace {

Placement on(int node, std::vector<int> cores, double quota = 0) {
  return {node == 0 ? "alpha" : "beta", node, std::move(cores), quota};
}

doctor::Binding binding(std::vector<Placement> placements, std::vector<AvailableCores> available) {
  return {
      .machine = run::machine_of(std::move(placements), 0), .available = std::move(available), .fixed = {}};
}

std::vector<AvailableCores> alike(std::size_t ranks, const AvailableCores& available) {
  return std::vector<AvailableCores>(ranks, available);
}

using Cores = std::vector<std::vector<int>>;

}  // namespace

TEST_CASE("Open MPI's default for one and two ranks is fixed") {
  const AvailableCores eight{.cores = {0, 1, 2, 3, 4, 5, 6, 7}};
  CHECK(doctor::better_cores(std::vector{on(0, {0})}, alike(1, eight), 0) == Cores{{0, 1, 2, 3, 4, 5, 6, 7}});
  CHECK(doctor::better_cores(std::vector{on(0, {0}), on(0, {1})}, alike(2, eight), 0) ==
        Cores{{0, 1, 2, 3}, {4, 5, 6, 7}});
  // Two hosts, each with a separate binding: both ranks are on the first core of their host.
  CHECK(doctor::better_cores(std::vector{on(0, {0}), on(1, {0})}, alike(2, {.cores = {0, 1}}), 0) ==
        Cores{{0, 1}, {0, 1}});
  // Three ranks crowd one of two cores: the ranks divide both cores.
  CHECK(doctor::better_cores(std::vector{on(0, {1}), on(0, {1}), on(0, {1})}, alike(3, {.cores = {0, 1}}),
                             0) == Cores{{0, 1}, {0, 1}, {0, 1}});
  // A rank that has its share stays.
  CHECK(doctor::better_cores(std::vector{on(0, {0}), on(0, {0})}, alike(2, {.cores = {0, 1}}), 0) ==
        Cores{{}, {1}});
  // Neighbors in memory stay together: the order of the available cores counts.
  CHECK(doctor::better_cores(std::vector{on(0, {0}), on(0, {1})}, alike(2, {.cores = {0, 2, 1, 3}}), 0) ==
        Cores{{0, 2}, {1, 3}});
}

TEST_CASE("chosen bindings, and bindings that cannot be improved, stay") {
  const AvailableCores four{.cores = {0, 1, 2, 3}};
  const AvailableCores chosen{.cores = {0, 1, 2, 3}, .chosen = true};
  const Cores two_stay(2), one_stays(1);
  CHECK(doctor::better_cores(std::vector{on(0, {0}), on(0, {0})}, alike(2, chosen), 4) == two_stay);
  CHECK(doctor::better_cores(std::vector{on(0, {0, 1}), on(0, {2, 3})}, alike(2, four), 0) == two_stay);
  CHECK(doctor::better_cores(std::vector{on(0, {0, 1, 2, 3}), on(0, {0, 1, 2, 3})}, alike(2, four), 8) ==
        two_stay);
  // One thread on one core was requested.
  CHECK(doctor::better_cores(std::vector{on(0, {2})}, alike(1, four), 1) == one_stays);
  CHECK(doctor::better_cores(std::vector{on(0, {2})}, alike(1, four), 2) == Cores{{0, 1, 2, 3}});
  // A taskset without a launcher: no other cores are available.
  CHECK(doctor::better_cores(std::vector{on(0, {2})}, alike(1, {.cores = {2}}), 4) == one_stays);
}

TEST_CASE("crowded cores are an error if others are idle, otherwise a warning") {
  const AvailableCores chosen{.cores = {0, 1, 2, 3}, .chosen = true};
  const auto pinned = doctor::check_binding(binding({on(0, {0}), on(0, {0})}, alike(2, chosen)), 0);
  CHECK(
      told(pinned) ==
      "error: alpha: ranks 0-1 run 2 threads on core 0, although the launcher has 4 cores here, because its "
      "options, or taskset or numactl in the command, say so | remove taskset or numactl from the command, or "
      "mpirun --map-by slot:PE=2, or --bind-to none");

  AvailableCores refused{.cores = {0, 1}, .refused = "Operation not permitted"};
  const auto kept = doctor::check_binding(binding({on(0, {0})}, {refused}), 2);
  CHECK_THAT(told(kept),
             StartsWith("error: alpha: rank 0 runs 2 threads on core 0, although the launcher has 2 cores "
                        "here, and the system refuses other cores: Operation not permitted |"));

  // Three threads on two of four cores: slower than possible, but all make progress.
  CHECK_THAT(told(doctor::check_binding(binding({on(0, {0, 1})}, {chosen}), 3)), StartsWith("warning: "));

  // More ranks than existing cores.
  const auto crowded = doctor::check_binding(
      binding({on(0, {0, 1}), on(0, {0, 1}), on(0, {0, 1})}, alike(3, {.cores = {0, 1}})), 0);
  CHECK_THAT(told(crowded), StartsWith("warning: alpha: ranks 0-2 run 3 threads on cores 0-1 |"));

  // Hosts are checked separately.
  const auto hosts = doctor::check_binding(
      binding({on(0, {0, 1}), on(1, {4, 6})}, {{.cores = {0, 1}}, {.cores = {4, 6}}}), 3);
  REQUIRE(hosts.size() == 2);
  CHECK(hosts[0].evidence == "alpha: rank 0 runs 3 threads on cores 0-1");
  CHECK(hosts[1].evidence == "beta: rank 1 runs 3 threads on cores 4, 6");
  CHECK(doctor::check_binding(binding({on(0, {0, 1})}, {{.cores = {0, 1}}}), 2).empty());
}

TEST_CASE("cores that a chosen binding leaves idle give a note") {
  const AvailableCores chosen{.cores = {0, 1, 2, 3, 4, 5, 6, 7}, .chosen = true};
  const auto found = doctor::check_binding(binding({on(0, {0}), on(0, {1})}, alike(2, chosen)), 0);
  CHECK_THAT(told(found),
             StartsWith("note: alpha: ranks 0-1 use only 2 of the 8 cores that the launcher has here |"));
}

TEST_CASE("a quota below the number of threads is a warning, below the number of cores a note") {
  CHECK_THAT(told(doctor::check_quota(run::machine_of({on(0, {0, 1, 2, 3}, 2.0)}, 0), 4)),
             StartsWith("warning: alpha: 4 threads, but the control group grants 2.0 CPUs |"));
  CHECK_THAT(told(doctor::check_quota(run::machine_of({on(0, {0, 1, 2, 3}, 2.5)}, 0), 0)),
             StartsWith("note: alpha: the control group grants 2.5 CPUs on 4 cores |"));
  CHECK(doctor::check_quota(run::machine_of({on(0, {0, 1})}, 0), 0).empty());
}

TEST_CASE("the launcher is found above scripts, with its options") {
  const TemporaryFolder processes;
  const auto process = [&](int id, const std::string& name, int parent, const std::string& cpus,
                           const std::string& command) {
    const std::string folder = (processes / std::to_string(id)).string();
    mkdir(folder.c_str(), 0700);
    std::ofstream(folder + "/status")
        << "Name:\t" << name << "\nPPid:\t" << parent << "\nCpus_allowed_list:\t" << cpus << "\n";
    std::ofstream(folder + "/cmdline") << command;
  };
  const Variable unset("OMPI_MCA_hwloc_base_binding_policy", std::nullopt);
  process(30, "bash", 20, "0", "bash");
  process(20, "mpirun.openmpi", 10, "0-3,6", std::string("mpirun\0-n\0\62\0convoke\0--bind-to\0", 31));
  process(10, "bash", 1, "0-7", "bash");
  const doctor::Launching found = doctor::launching(30, processes.path());
  CHECK(found.cpus == std::vector<int>{0, 1, 2, 3, 6});
  CHECK_FALSE(found.chosen);  // options after the program belong to the program

  process(21, "mpirun", 10, "0-3", std::string("mpirun\0--bind-to\0core\0convoke\0", 29));
  CHECK(doctor::launching(21, processes.path()).chosen);
  const auto chooses = [&](std::string command) {
    std::ranges::replace(command, ' ', '\0');
    process(22, "mpirun", 10, "0-3", command);
    return doctor::launching(22, processes.path()).chosen;
  };
  CHECK(chooses("mpirun -n 1 --bind-to-core convoke train"));
  CHECK(chooses("mpirun --am tune.conf convoke train"));
  CHECK(chooses("mpirun -n 1 /usr/bin/taskset -c 1 convoke train"));
  CHECK(chooses("mpirun -n 1 numactl --physcpubind=1 convoke train"));
  CHECK_FALSE(chooses("mpirun -n 1 numactl --interleave=all convoke train"));
  CHECK_FALSE(chooses("mpirun -n 1 convoke train --output taskset"));
  {
    const Variable list("OMPI_MCA_hwloc_base_cpu_list", "1");
    CHECK(doctor::launching(20, processes.path()).chosen);
  }
  const Variable policy("OMPI_MCA_hwloc_base_binding_policy", "core");
  CHECK(doctor::launching(20, processes.path()).chosen);
  CHECK(doctor::launching(10, processes.path()).cpus.empty());  // a shell, a batch system
  CHECK(doctor::launching(99, processes.path()).cpus.empty());
}

TEST_CASE("processes that are each alone in their MPI world are an error") {
  const Variable open_mpi("OMPI_COMM_WORLD_SIZE", std::nullopt), slurm("SLURM_STEP_NUM_TASKS", std::nullopt);
  const Variable mpich("PMI_SIZE", "4");
  const std::string alone = told(doctor::check_launcher(run::machine_of({{"alpha", 0, {0}, 0}}, 0)));
  CHECK_THAT(alone, StartsWith("error: ") && Contains("has started 4 processes (PMI_SIZE=4)"));
  CHECK_THAT(alone.substr(alone.find(" | ")), Contains("srun --mpi=pmix"));
  const auto two = doctor::check_launcher(run::machine_of({{"alpha", 0, {0}, 0}, {"beta", 1, {0}, 0}}, 0));
  CHECK_THAT(told(two), StartsWith("ok: 2 ranks in one MPI world on 2 hosts"));
}
