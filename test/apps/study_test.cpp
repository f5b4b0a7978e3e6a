// Studies from end to end: the real binary starts its runs with mpirun.
#include <unistd.h>

#include "apps/place.hpp"
#include "support/catch.hpp"
#include "support/shell.hpp"

namespace {

// Counts the lines of measurements.csv below the header.
int rows(const fs::path& study) { return times(bytes_of(study / "measurements.csv"), "\n") - 1; }

struct Study : Place {
  // Tests run in parallel, so no machine is quiet.
  explicit Study(const std::string& more) {
    write_file(folder / "s.toml",
               "recipe = \"recipe.toml\"\ntarget = 0.9\nwarm_up = 0\ncontended_above = 1e9\n" + more);
  }
  Outcome study(const std::string& more = "", const std::string& before = "") const {
    return run("study s.toml --output out " + more, before);
  }
};

}  // namespace

TEST_CASE("a study runs every configuration the requested number of times, and prints intervals") {
  const Study place("ranks = [2]\nrepeats = 2\nat_most = 2\n[set]\ntrain.epochs = 1\n");
  place.study("--dry-run").ends(0).shows("convoke train recipe.toml --set train.epochs=1");
  place.replace("s.toml", "train.epochs = 1", "train.epochs = 1\ndescription = \"a b\"", "words.toml");
  place.run("study words.toml --dry-run").ends(0).shows("--set 'description=\"a b\"'");
  CHECK_FALSE(fs::exists(place / "out"));

  const Outcome outcome = place.study().ends(0);
  CAPTURE(outcome.text);
  CHECK(rows(place / "out") == 2);
  CHECK(outcome.says("95 % interval"));
  CHECK(outcome.says("study folder: out"));
  CHECK(outcome.says("the study itself took"));
  for (const char* file :
       {"study.toml", "recipes/tiny.toml", "runs/tiny-sync-2x1-1/summary.json",
        "runs/tiny-sync-2x1-2/metrics.jsonl", "runs/tiny-sync-2x1-2.log", "analysis.json"}) {
    CAPTURE(file);
    CHECK(fs::exists(place / "out" / file));
  }
  CHECK_FALSE(fs::exists(place / "out/runs/tiny-sync-2x1-2/model.h5"));
  CHECK(fs::exists(place / "out/report.html") != outcome.says("libjs-chart.js"));
  // Repeats have different seeds.
  const auto recipe = [&](const char* run) { return bytes_of(place / "out/runs" / run / "recipe.toml"); };
  CHECK_THAT(recipe("tiny-sync-2x1-1"), Contains("seed = 3\n"));
  CHECK_THAT(recipe("tiny-sync-2x1-2"), Contains("seed = 4\n"));

  CHECK(place.study().says("is not empty"));
  // No run is left, until more repeats are requested.
  CHECK(place.study("--resume").says("0 runs in this session"));
  write_file(place / "s.toml", bytes_of(place / "s.toml").replace(0, 0, "fraction = [1.0, 0.5]\n"));
  const int before = rows(place / "out");
  place.study("--resume").ends(0);
  CHECK(rows(place / "out") == before + 2);
  // The dataset is prepared again: its runs are no repeats. A run that is in the table is not made again.
  fs::remove(place / "data.h5");
  write_dataset(place / "data.h5", 160);
  place.replace("s.toml", "repeats = 2\nat_most = 2", "repeats = 3\nat_most = 3");
  for (const char* how : {"--resume", "--task 4"})
    place.study(how).ends(1).shows("its dataset has changed since this study began");
  place.study("--task 0").ends(0).shows("run 1  makespan");
  CHECK(rows(place / "out") == before + 2);
  write_file(place / "s.toml", bytes_of(place / "s.toml") + "train.batch = 64\n");
  CHECK(place.study("--resume").says("[set] or new_seeds has changed"));
}

TEST_CASE("a run that fails is marked, the study continues, and --resume makes the run again") {
  const Study place("ranks = [1, 2]\nrepeats = 1\nat_most = 1\n[set]\ntrain.epochs = 1\n");
  // An mpirun that cannot start two ranks, the first time.
  write_script(place / "bin/mpirun",
               "[ \"$2\" = 2 ] && { echo 'error: no second rank today'; exit 9; }\n"
               "PATH=${PATH#*:} exec mpirun \"$@\"\n");
  place.study("", "PATH=" + (place / "bin").string() + ":$PATH")
      .ends(0)
      .shows("FAILED: exit code 9: no second rank today (out/runs/tiny-sync-2x1-1.log)")
      .shows("1 failed")
      .shows("one run: no interval");
  CHECK_THAT(bytes_of(place / "out/measurements.csv"), Contains(",failed\n"));
  // A session with only failed runs fails; the message is the subject of Open MPI's framed text.
  write_script(place / "bin/mpirun",
               "l=--------------------------------------------------------------------------\n"
               "printf '%s\\n' $l 'it has started' $l hm $l 'no second rank here' '' 'At your own risk.' "
               "$l; exit 9\n");
  place.study("--resume", "PATH=" + (place / "bin").string() + ":$PATH")
      .ends(1)
      .shows("FAILED: exit code 9: no second rank here (out");
  place.study("--resume").ends(0).shows("tiny-sync-2x1 run 1  makespan").never("tiny-sync-1x1 run");
  // A repeat is missing before the last one, and this host has no calibration yet.
  place.replace("out/measurements.csv", "tiny,sync,1,1,1,strong,,1,", "tiny,sync,1,1,1,strong,,2,");
  fs::remove_all(place / "out/calibration");
  place.study("--resume").ends(0).shows("tiny-sync-1x1 run 1  makespan");
}

TEST_CASE("a study that is stopped or killed loses only its current run") {
  const Study place("repeats = 3\nat_most = 3\n[set]\ntrain.epochs = 1\n");
  // The second run would take very long.
  write_script(place / "bin/mpirun",
               "case \"$*\" in *1x1-2*) sleep 60;; esac\nPATH=${PATH#*:} exec mpirun \"$@\"\n");
  const std::string slow = "PATH=" + (place / "bin").string() + ":$PATH";
  const std::string started = "out/runs/tiny-sync-1x1-2.log";
  const auto ended_by = [&](const std::string& signal, const std::string& more) {
    CAPTURE(signal);
    const Outcome outcome =
        place
            .commands("rm -f " + started + "; " + slow + " " + binary() + " study s.toml --output out " +
                      more + " & study=$!; for i in $(seq 300); do [ -e " + started +
                      " ] && break; sleep 0.05; done; kill -" + signal + " $study; wait $study")
            .ends(signal == "KILL" ? 137 : 85);
    CAPTURE(outcome.text);
    if (signal != "KILL") CHECK(outcome.says("Resume with: convoke study s.toml --output out --resume"));
    CHECK(rows(place / "out") == 1);
  };
  ended_by("INT", "");
  CHECK_FALSE(fs::exists(place / started));
  ended_by("KILL", "--resume");
  if (const Outcome page = place.run("report out"); !page.says("libjs-chart.js")) {
    CAPTURE(page.text);
    CHECK(page.code == 0);
    const std::string text = bytes_of(place / "out/report.html");
    CHECK_THAT(text, Contains("This study is not complete: at least 2 more runs are missing."));
    CHECK_THAT(text, Contains("convoke study out/study.toml --output out --resume"));
  }
  place.study("--resume").ends(0).shows("1x1 run 2").shows("1x1 run 3").never("1x1 run 1 ");
}

TEST_CASE("the job that collects runs of an array submits more until there are enough, within the budget") {
  const Study place("repeats = 2\nat_most = 4\n[set]\ntrain.epochs = 1\n");
  place.replace("s.toml", "0.9", "1e-9");
  REQUIRE(place.study("--begin").code == 0);
  for (const char* task : {"--task 0", "--task 1"}) {
    place.study(task).ends(0).shows("the study itself took");
  }
  write_file(place / "out/jobs.txt", "17\n18\n");  // as submit.sh writes it; job 17 has ended
  write_script(place / "bin/squeue", "[ \"$2\" = --jobs=17,18 ] && echo 18 && echo 18\n");
  for (const char* resume :
       {"--resume", "--resume --begin", "--resume --slurm --ranks-per-node 1 --submit"}) {
    place.study(resume, "PATH=" + (place / "bin").string() + ":$PATH")
        .ends(1)
        .shows("out: jobs of this study are still in the queue: 18\n");
  }
  fs::remove(place / "out/jobs.txt");
  place.run("study analyze out").ends(1).shows("--output out --collect");
  fs::create_directory(place / "out-jobs");
  const std::string collect = "--collect --more out-jobs --ranks-per-node 1";
  write_script(place / "bin/sbatch", "echo Invalid job array specification >&2; exit 1\n");
  const Outcome refused = place.study(collect, "PATH=$PWD/bin:$PATH").ends(1);
  CHECK(rows(place / "out") == 2);  // the existing runs are kept
  refused.shows("2 more runs, to know every makespan to").shows("Slurm refused: Invalid job array");
  refused.shows("(MaxArraySize); use fewer ").shows("; on a login node: bash out-jobs/more.sh\n");
  CHECK_THAT(bytes_of(place / "out-jobs/more.sh"), Contains("--array=2-3"));
  write_file(place / "out/jobs.txt", "17\n18\n");
  place.study("--collect", "PATH=" + (place / "bin").string() + ":$PATH")
      .ends(0)
      .shows(" runs are missing; jobs of this study are still in the queue: 18\n")
      .never("make them with");
  fs::remove(place / "out/jobs.txt");
  write_script(place / "bin/sinfo", "exit 1\n");  // as on compute nodes of some clusters
  place.study("--collect --more out-jobs", "PATH=$PWD/bin:$PATH")
      .ends(0)
      .shows("with: convoke study out/study.toml --slurm --output out --resume --submit\n");

  REQUIRE(place.study("--task 2").code == 0);
  write_file(place / "s.toml", "budget = \"1 s\"\n" + bytes_of(place / "s.toml"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  const Outcome late = place.study(collect).ends(0).shows("the budget of 1.0 s is used up");
  late.shows("1 runs are missing").shows("with: bash out-jobs/more.sh\n");
  CHECK_THAT(bytes_of(place / "out-jobs/more.sh"), Contains("--array=3 "));
  CHECK(rows(place / "out") == 3);

  // A session collects, too. It makes no run again.
  REQUIRE(place.study("--task 3").code == 0);
  place.study("--resume").ends(0).shows("0 runs in this session");
  CHECK(rows(place / "out") == 4);
}

TEST_CASE("the jobs of a study take as few nodes as possible, and keep scripts that the user has edited") {
  const Study place("mode = [\"sync\", \"emulated ensemble\"]\nranks = [4, 5]\n[set]\ntrain.batch = 64\n");
  const auto on_nodes = [&](const std::string& count, const std::string& command) {
    write_script(place / "bin/sinfo", "echo 'main*|up|infinite|" + count + "|4|16000|1:4:1|idle'\n");
    return place.run(command, "PATH=$PWD/bin:$PATH");
  };
  const std::string study = "study s.toml --slurm --output out/ ";
  on_nodes("1", study).ends(1).shows("tiny-sync-5x1: 2 nodes are more than the 1 ").shows("use fewer ranks ");
  on_nodes("2", study + "--time 0").ends(1).shows("--time 0: a job needs a limit");
  on_nodes("2", study + "--time UNLIMITED").ends(1).shows("--time UNLIMITED: a job needs a limit");
  on_nodes("2", study).ends(0);
  for (const char* size : {"--nodes=1 --ntasks-per-node=4 ", "--nodes=2 --ntasks-per-node=3 ",
                           "--nodes=1 --ntasks-per-node=1 "}) {  // members are trained in turn
    CHECK_THAT(bytes_of(place / "out-jobs/submit.sh"), Contains(size));
  }
  CHECK_THAT(bytes_of(place / "out-jobs/submit.sh"),
             Contains(" by: convoke study s.toml --slurm --output out/\n"));
  for (const char* option : {"--time 9", "--mail me", "--program x", "--slurm --task 1", "--slurm --begin"})
    CHECK(place.study(option).code == 2);
  place.refuses("study s.toml --at-once 2", "describe jobs, but this study runs here");
  REQUIRE(place.study("--begin").code == 0);
  place.replace("out-jobs/study.sh", "# module load", "module load");
  on_nodes("2", study + "--resume").ends(0).shows("/study.sh is kept").never("collect.sh is kept");
  CHECK_THAT(bytes_of(place / "out-jobs/study.sh"), Contains("\nmodule load openmpi"));
  CHECK_THAT(bytes_of(place / "out-jobs/submit.sh"), Contains(" --resume --begin"));
  place.replace("s.toml", "ranks = [4, 5]", "ranks = [4]\nthreads = [2]");  // study.sh has one thread
  on_nodes("2", study + "--resume").ends(0);
  CHECK_THAT(bytes_of(place / "out-jobs/submit.sh"),
             Contains("--nodes=2 --ntasks-per-node=2 --cpus-per-task=2 --mem="));

  place.replace("recipe.toml", "[run]\nthreads = 1\n", "");
  on_nodes("2", "slurm study recipe.toml --nodes 2 --dry-run").ends(0).shows("--nodes=2 --array=");
  const std::string changed =
      " --set data.fraction=0.5 --set train.mode=ensemble --set ensemble.members=2 --set run.threads=2";
  on_nodes("2", "slurm study recipe.toml --nodes 2 --output jobs" + changed).ends(0);
  CHECK_THAT(bytes_of(place / "jobs/submit.sh"), Contains("\nruns_1x2x2=") && Contains("\nruns_2x2x2="));
  place.run("study jobs/study.toml --dry-run").ends(0).shows("--set data.fraction=0.5");
}

TEST_CASE("contended runs are repeated once, different bindings are detected, and both are marked") {
  const Study place("ranks = [1]\nrepeats = 1\nat_most = 1\n[set]\ntrain.epochs = 1\n");
  place.replace("s.toml", "1e9", "0.1");
  CHECK(place.study("--begin").code == 0);
  const Outcome early = place.run("report out");
  CHECK((early.says("out: no run of this study has ended yet") || early.says("libjs-chart.js")));
  // Calibrated on a machine that was faster than any real one.
  char host[256];
  REQUIRE(gethostname(host, sizeof host) == 0);
  write_file(place / "out/calibration" / (std::string(host) + ".json"),
             "{\"multiply_add_steps\":1000000,\"seconds\":{\"1\":1e-9}}");
  const Outcome contended = place.study("--resume").ends(0);
  CAPTURE(contended.text);
  contended.shows("% slower than calibrated").shows("tiny-sync-1x1 run 1 again  makespan");
  CHECK(
      contended.says("CONTENDED, 1 contended left out"));  // in the table, because its first run was repeated
  CHECK(contended.says("2 contended"));
  CHECK(rows(place / "out") == 2);

  place.replace("out/runs/tiny-sync-1x1-1/environment.json", "\"cores\": \"", "\"cores\": \"7");
  place.replace("s.toml", "repeats = 1\nat_most = 1", "repeats = 2\nat_most = 2");
  place.study("--resume").shows("BINDINGS DIFFER from those of the configuration's first run");
  CHECK_THAT(bytes_of(place / "out/measurements.csv"), Contains("bindings differ"));
}

TEST_CASE("a study that cannot be run is refused before the first run") {
  const Study place("ranks = [1, 9]\n");
  const auto refused = [&](const std::string& study, const std::string& reason) {
    write_file(place / "s.toml", study);
    CAPTURE(study);
    place.study().ends(1).shows(reason);
    CHECK_FALSE(fs::exists(place / "out"));
  };
  refused(bytes_of(place / "s.toml"), "1 of 2 configurations cannot run");
  refused("recipe = \"recipe.toml\"\nrank = [1]\n", "did you mean \"ranks\"?");
  refused("recipe = \"recipe.toml\"\n[axes]\ntrain.micro_batches = [8]\n", "did you mean \"micro_batch\"?");
  refused("recipe = \"recipes.toml\"\n", "unknown recipe \"recipes.toml\"");
  CHECK(place.run("study").says("no study file is named"));
  CHECK(place.study("", "OMPI_COMM_WORLD_SIZE=1").says("was itself started by the mpirun of Open MPI"));
  CHECK(place.study("", "PMI_SIZE=3").says("was itself started by the mpirun of MPICH"));
  CHECK(place.study("", "SLURM_STEP_NUM_TASKS=2").says("was itself started by srun"));
}

TEST_CASE("emulated members vote as members at once, and their times are marked everywhere") {
  const Study place(
      "mode = [\"ensemble\", \"emulated ensemble\"]\nranks = [2]\nrepeats = 1\nat_most = 1\n"
      "columns = [\"test.ece\", \"phases.load.max\", \"test.eec\"]\n[set]\ntrain.epochs = 1\n");
  place.study("--dry-run")
      .shows("tiny-ensemble-2x1-emulated")
      .shows("--member 0 .. 1    # one after another, then convoke gather");

  const Outcome outcome = place.study().ends(0);
  outcome.shows("!tiny-ensemble-2x1-emulated").shows("EMULATED").once("has no number \"test.eec\"");
  CHECK(outcome.says("no counters (RAPL)") != fs::exists("/sys/class/powercap/intel-rapl:0/energy_uj"));

  // With reduction = "exact" both have the same members, and so the same scores to the last bit.
  const auto lines = rows_of(place / "out/measurements.csv");
  REQUIRE(lines.size() == 3);
  const auto value = [&](std::size_t line, const std::string& column) {
    const auto at = std::find(lines[0].begin(), lines[0].end(), column);
    REQUIRE(at != lines[0].end());
    return lines[line].at(static_cast<std::size_t>(at - lines[0].begin()));
  };
  for (const char* column : {"accuracy", "training_accuracy", "validation_accuracy", "f1", "quadratic_kappa",
                             "roc_auc", "summary.test.ece", "epochs", "dataset_hash"}) {
    CAPTURE(column, value(1, column));
    CHECK_FALSE(value(1, column).empty());
    CHECK(value(1, column) == value(2, column));
  }
  for (const std::size_t line : {1, 2}) {
    const auto number = [&](const std::string& column) { return std::stod(value(line, column)); };
    CHECK(number("core_seconds") == Approx(2 * number("makespan_seconds")));
    CHECK(number("test_seconds") > 0);
    CHECK(number("test_seconds") <= 1.001 * number("evaluation_seconds") + 0.01);
    CHECK(number("compute_seconds") + number("load_seconds") + number("evaluation_seconds") <
          number("makespan_seconds"));
    CHECK(number("images_per_second") > 0);
    CHECK(number("summary.phases.load.max") > 0);
  }
  const std::size_t emulated = value(1, "marks") == "emulated" ? 1 : 2;
  CHECK(value(emulated, "marks") == "emulated");
  CHECK(value(emulated, "joules").empty());

  const fs::path run = place / "out/runs/tiny-ensemble-2x1-emulated-1";
  CHECK(fs::exists(run / "members/member-001/summary.json"));
  CHECK_FALSE(fs::exists(run / "members/member-001/ensemble.h5"));
  CHECK_FALSE(fs::exists(run / "ensemble.h5"));
  CHECK_FALSE(fs::exists(run.string() + "-members"));
  const Outcome analysis = place.run("study analyze out/measurements.csv");
  CAPTURE(analysis.text);
  CHECK(analysis.says("tiny, ensemble, 2 ranks, strong [EMULATED]") !=
        analysis.says("tiny, ensemble, 2 ranks [EMULATED]"));
  analysis.shows("training accuracy (%)").shows("quadratic kappa").shows("test, part of the evaluation");
  analysis.shows("phases.load.max");

  // A column that is new is read from the folders of the runs.
  place.replace("s.toml", "test.eec", "parameters");
  place.study("--resume").shows("0 runs in this session");
  CHECK_THAT(bytes_of(place / "out/measurements.csv"), Contains("summary.parameters"));
}

TEST_CASE("a member that fails in its turn fails the run, and the others are not trained") {
  const Study place(
      "mode = \"emulated ensemble\"\nranks = [3]\nrepeats = 1\nat_most = 1\n[set]\ntrain.epochs = 1\n");
  write_script(place / "bin/mpirun",
               "case \"$*\" in *'--member 1'*) echo 'error: no second member today'; exit 9;; esac\n"
               "PATH=${PATH#*:} exec mpirun \"$@\"\n");
  place.study("", "PATH=" + (place / "bin").string() + ":$PATH")
      .ends(1)
      .shows("FAILED: exit code 9: no second member today");
  CHECK_THAT(bytes_of(place / "out/measurements.csv"), Contains("emulated; failed"));
  CHECK(fs::exists(place / "out/runs/tiny-ensemble-3x1-emulated-1-members/member-000/summary.json"));
  place.study("--resume").ends(0).shows("tiny-ensemble-3x1-emulated run 1  makespan");
}
