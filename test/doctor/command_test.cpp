// The real binary with wrongly started and bound ranks, in control groups and simple containers.
#include <fcntl.h>
#include <unistd.h>

#include "convoke/metrics/json.hpp"
#include "convoke/os/processors.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/shell.hpp"
#include "support/skip.hpp"
#include "support/source_path.hpp"

namespace {

Outcome doctor_says(const std::string& arguments, const std::string& before = "") {
  return shell("cd " + fs::temp_directory_path().string() + " && " + before + " " + binary() + " doctor " +
               arguments);
}

/// It ended with this code under mpirun. Open MPI 5's mpirun may replace nonzero exit codes.
Outcome answers(const Outcome& outcome, int code) {
  CAPTURE(outcome.text);
  CHECK((outcome.code == code || (code_under_mpirun(code) != code && outcome.code != 0)));
  return outcome;
}

/// Starts two ranks, the second by `wrapper`, as "mpirun A : B" would if the mpirun of Debian 13 did not
/// crash (open-mpi/ompi issue 13303).
Outcome doctor_of_two(const std::string& wrapper) {
  return doctor_says("--quick", mpirun(2) + " sh -c 'if [ \"$OMPI_COMM_WORLD_RANK\" = 1 ]; then exec " +
                                    wrapper + " \"$@\"; fi; exec \"$@\"' sh");
}

bool several_cores() { return convoke::os::allowed_cpus().size() > 1; }
std::string first_cpu() { return std::to_string(convoke::os::allowed_cpus().front()); }

/// A recipe without a dataset: checks before the dataset is opened can refuse it.
struct Recipe {
  TemporaryFolder folder;
  Recipe() {
    std::ofstream(folder / "recipe.toml")
        << "name = \"tiny\"\n[data]\npath = \"none.h5\"\n[model]\ninput = [1, 8, 8]\nlayers = [{ layer = "
           "\"flatten\" }, { layer = \"dense\", units = 2, activation = \"softmax\" }]\n[run]\nthreads = 1\n";
  }
  Outcome train(const std::string& before, const std::string& more = "") const {
    return shell("cd " + folder.path().string() + " && " + before + " " + binary() + " train recipe.toml " +
                 more);
  }
};

/// The different lists of CPUs that the threads of a run with two workers have at its end.
Outcome masks_of_workers(const std::string& variables) {
  const Recipe recipe;
  return shell(
      "cd " + recipe.folder.path().string() + "; " + variables + " " + binary() +
      " bench recipe.toml --rounds 1 --seconds 0.5 --set run.threads=2 >bench.log 2>&1 & while kill -0 $! "
      "2>/dev/null; do grep -H Cpus_allowed_list /proc/$!/task/*/status 2>/dev/null; sleep 0.02; done | awk "
      "'{ last[$1] = $2 } END { for (thread in last) print last[thread] }' | sort -u > masks; grep -q "
      "images/s bench.log && echo trained && cat masks");
}

}  // namespace

TEST_CASE("one rank with all cores has no problems") {
  const Outcome quick = doctor_says("--quick").ends(0);
  for (const char* subject : {"launcher", "binding", "instruction set", "shared memory", "storage"}) {
    quick.shows(std::string("ok       ") + subject);
  }
  quick.shows("  rank 0     #").never("written at");
  const Outcome measured = doctor_says("");  // a busy machine may be slow
  CHECK(measured.says("written at"));
  CHECK(measured.says("a busy core "));
}

TEST_CASE("findings are printed as JSON") {
  const Outcome outcome = doctor_says("--quick --json").ends(0);
  const convoke::Settings result = convoke::metrics::settings_from_json(outcome.text, "doctor");
  convoke::SettingsReader read(result, "doctor");
  CHECK(read.require_string("worst") != "error");
  CHECK(read.tables("ranks").size() == 1);
  CHECK(read.tables("findings").size() >= 4);
}

TEST_CASE("another machine is examined, which a variable describes") {
  const auto on = [](const std::string& topology, const std::string& more = "") {
    return doctor_says("--quick " + more, "CONVOKE_TOPOLOGY='" + topology + "'");
  };
  on("pack:2 numa:1 core:32 pu:2")
      .ends(3)
      .shows("64 cores of 2 hardware threads, 2 sockets, 2 NUMA nodes\n")
      .shows("64 threads (32 on node 0, 32 on node 1), cores 0, 2, 4")
      .shows("warning  topology         the cores are those of CONVOKE_TOPOLOGY (pack:2 numa:1");
  const std::string files = source_path("test/os/topologies");
  CHECK(on(files + "/odd_cores.xml").says("rank 0     .#.#.#.#  4 threads, cores 1, 3, 5, 7"));
  CHECK(on(files + "/hybrid.xml").says("4 of the 6 cores are slower"));
  CHECK(on("core:8 pu:2", "--threads 12")
            .says("12 threads have 16 CPUs, but these are hardware threads of only 8"));
  on("core:many")
      .ends(1)
      .shows("\"core:many\" is neither a synthetic topology nor an XML file of hwloc")
      .shows("hint: set CONVOKE_TOPOLOGY to");
  shell("CONVOKE_TOPOLOGY=core:2 " + binary() + " info").ends(0).never("\nprocessor");
}

TEST_CASE("each worker but the first, which is the main thread, is bound to its NUMA node") {
  if (!several_cores() || first_cpu() != "0") return skip("needs CPUs 0 and 1");
  // hwloc takes the topology for that of this host, and therefore binds threads.
  masks_of_workers("CONVOKE_TOPOLOGY='numa:2 core:1 pu:1' HWLOC_THISSYSTEM=1").shows("\n1\n").never("\n0\n");
}

TEST_CASE("Open MPI's binding of one rank to one core is fixed") {
  if (!several_cores()) return skip("needs two cores");
  const Outcome outcome = doctor_says("--quick", "mpirun -n 1").ends(0);
  CHECK(
      outcome.says("note     binding          binding fixed: the launcher had bound 1 rank to fewer cores"));
  doctor_says("--quick", "mpirun --bind-to core -n 1")
      .never("binding fixed")
      .shows("note     binding          ")
      .shows("uses only 1 of the ");
  answers(doctor_says("--quick --threads 2", "mpirun --bind-to core -n 1"), 4)
      .shows("rank 0 runs 2 threads on core 0, although the launcher has ");
}

TEST_CASE("two ranks on one core are moved apart, and refused if that binding was chosen") {
  if (!several_cores()) return skip("needs two cores");
  const std::string crowded = "taskset -c " + first_cpu();
  // The launcher does not see what a script chooses.
  const Outcome fixed = doctor_says("--quick", "mpirun -n 2 sh -c 'exec " + crowded + " \"$@\"' sh").ends(0);
  fixed.shows("binding fixed: the launcher had bound 1 rank to fewer cores");
  CHECK(fixed.times("1 thread, core") + fixed.times("threads, cores") == 2);

  const std::string chosen = "mpirun -n 2 " + crowded;
  const Outcome found = answers(doctor_says("--quick", chosen), 4);
  found.shows("error    binding").shows("ranks 0-1 run 2 threads on core");
  if (found.says("Open MPI v4")) CHECK_FALSE(found.says("mpirun detected"));  // no banner behind an answer
  const Recipe recipe;
  recipe.train(chosen)
      .ends(1)
      .shows("error: ")
      .shows("ranks 0-1 run 2 threads on core")
      .shows("hint: remove taskset or numactl from the command, or mpirun --")
      .shows("--ignore-doctor");
  recipe.train(chosen, "--ignore-doctor").shows("none.h5");  // it ends at the missing dataset instead
}

TEST_CASE("variables that make OpenMP bind threads change neither the number of threads nor their cores") {
  if (!several_cores()) return skip("needs two cores");
  const std::string cores = doctor_says("--quick").text, masks = masks_of_workers("").text;
  for (const char* set : {"GOMP_CPU_AFFINITY=0", "OMP_PROC_BIND=spread OMP_PLACES=cores"}) {
    const Outcome found = doctor_says("--quick", set).ends(0).shows("note     openmp");
    CHECK(found.text.substr(0, found.text.find("\n\n")) == cores.substr(0, cores.find("\n\n")));
    // The workers compute in parallel regions of OpenMP.
    CHECK(masks_of_workers(set).text == masks);
  }
}

TEST_CASE("processes of another launcher, each in a separate MPI world, are refused") {
  for (const char* launcher : {"MV2_COMM_WORLD_SIZE=4", "SLURM_STEP_NUM_TASKS=4"}) {
    doctor_says("--quick", launcher).ends(4).shows("error    launcher").shows("has started 4 processes");
  }
  const Recipe recipe;
  recipe.train("PMI_SIZE=4").ends(1).shows("has started 4 processes");
  CHECK(recipe.train("PMI_SIZE=4", "--ignore-doctor").says("none.h5"));
}

TEST_CASE("more ranks than cores whose waiting ranks keep the core are found") {
  const std::string one_core = "OMPI_MCA_mpi_yield_when_idle=0 taskset -c " + first_cpu();
  const Outcome found =
      answers(doctor_says("--quick", one_core + " mpirun --bind-to none --host localhost:3 -n 3"), 3);
  found.shows("ranks 0-2 run 3 threads on core");
  if (found.says("Open MPI v4")) found.shows("warning  oversubscription");
  doctor_says("--quick", "taskset -c " + first_cpu() + " " + mpirun(3)).never("warning  oversubscription");
}

TEST_CASE("ranks with different instruction sets are found") {
  answers(doctor_of_two("env ONEDNN_MAX_CPU_ISA=SSE41 DNNL_MAX_CPU_ISA=SSE41"), 3)
      .shows("warning  instruction set")
      .shows("sse41 on ");
}

TEST_CASE("a recipe is checked against the machine") {
  doctor_says("mnist-sync --set data.path=none.h5 --quick")
      .ends(4)
      .shows("error    recipe")
      .shows("convoke prepare");
  doctor_says("mnist-sync --set run.threads=5 --threads 3 --quick", "CONVOKE_TOPOLOGY=core:8")
      .shows("  3 threads, cores ");
  doctor_says("--quick --output /proc/runs").ends(4).shows("/proc/runs: cannot be written");
}

TEST_CASE("a quota of a real control group is found") {
  const fs::path old_way = "/sys/fs/cgroup/cpu",
                 group = old_way / ("convoke-doctor-" + std::to_string(getpid()));
  std::error_code failed;
  if (!fs::exists(old_way / "cpu.cfs_quota_us") || !fs::create_directory(group, failed)) {
    return skip("cannot create a control group of version 1 here");
  }
  std::ofstream(group / "cpu.cfs_period_us") << 100000;
  std::ofstream(group / "cpu.cfs_quota_us") << 150000;
  const Outcome outcome = doctor_says("--quick --threads 4",
                                      "sh -c 'echo $$ > " + (group / "tasks").string() + "; exec \"$@\"' sh");
  for (int i = 0; i < 100 && !fs::remove(group, failed); ++i) usleep(20'000);
  outcome.ends(3).shows("warning  quota").shows("4 threads, but the control group grants 1.5 CPUs");
}

TEST_CASE("a tiny /dev/shm is found") {
  const std::string inside = "unshare --mount sh -c 'mount -t tmpfs -o size=1m tmpfs /dev/shm && ";
  if (shell(inside + "true'").code != 0) return skip("needs root to mount another /dev/shm");
  answers(shell(inside + mpirun(2) + " " + binary() + " doctor --quick'"), 3)
      .shows("warning  shared memory")
      .shows("/dev/shm has only 1.0 MiB for 2 ranks; messages use files in /tmp")
      .shows("docker run --shm-size=");
}

TEST_CASE("ranks that cannot read each other's memory are found") {
  const std::string less = "setpriv --bounding-set=-sys_ptrace,-net_raw";
  if (getuid() != 0 || shell(less + " true").code != 0) return skip("needs root and setpriv");
  doctor_of_two(less).ends(0).shows("note     cma").shows("ranks cannot read each other's memory");
}
