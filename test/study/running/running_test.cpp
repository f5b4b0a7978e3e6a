// Tools of a study's measurements: spin loops, energy, processes, launch lines, finished runs.
#include <csignal>

#include "convoke/os/processors.hpp"
#include "convoke/run/phases.hpp"
#include "convoke/study/running/configuration_runner.hpp"
#include "convoke/study/running/energy_meter.hpp"
#include "convoke/study/running/finished_run.hpp"
#include "convoke/study/running/session.hpp"
#include "convoke/study/running/spin_loops.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/variable.hpp"

using namespace convoke;
using namespace convoke::study;
using Words = std::vector<std::string>;

TEST_CASE("ranks get separate cores if there are enough, and otherwise share all cores") {
  CHECK(launch_of(2, 3, 8).words == Words{"mpirun", "-n", "2", "--map-by", "slot:PE=3", "--bind-to", "core"});
  CHECK_FALSE(launch_of(2, 4, 8).oversubscribed);
  CHECK(launch_of(2, 4, 8, {.bind = false}).words == Words{"mpirun", "-n", "2", "--bind-to", "none"});
  CHECK(launch_of(3, 3, 8).oversubscribed);
  CHECK(launch_of(3, 3, 8).words == Words{"mpirun", "-n", "3", "--oversubscribe", "--bind-to", "none"});
  CHECK(launch_of(4, 2, 8, {.srun = true}).words == Words{"srun", "--mpi=pmix", "--kill-on-bad-exit=1",
                                                          "--ntasks=4", "--cpus-per-task=2",
                                                          "--cpu-bind=cores"});
  CHECK(launch_of(4, 3, 8, {.srun = true}).words.back() == "--overcommit");
  CHECK_FALSE(cores_here().empty());
  const Variable none("SLURM_CPUS_PER_TASK", std::nullopt);
  CHECK(cores_of_job() == static_cast<std::int64_t>(cores_here().size()));
  const Variable nodes("SLURM_JOB_NUM_NODES", "3"), ranks("SLURM_NTASKS_PER_NODE", "4"),
      cpus("SLURM_CPUS_PER_TASK", "2");
  CHECK(cores_of_job() == 24);
  // Slurm sets only what the user requested.
  const Variable one_core("SLURM_CPUS_PER_TASK", std::nullopt);
  CHECK(cores_of_job() == 12);
  const Variable any_node("SLURM_NTASKS_PER_NODE", std::nullopt), tasks("SLURM_NTASKS", "10");
  CHECK(cores_of_job() == 10);
  const Variable one_node("SLURM_JOB_NUM_NODES", "1");
  CHECK(cores_of_job() == static_cast<std::int64_t>(cores_here().size()));
}

TEST_CASE("the spin loop computes twelve chains of multiplications and additions, four wide") {
  // After n steps a chain that started with -i is 4 - (4 + i) 0.75^n, and each chain has four of them.
  CHECK(spin(0) == -4 * 66);
  CHECK(spin(2) == -64.5F);
  CHECK(spin(1000) == Approx(4 * 12 * 4));
}

TEST_CASE("a loop that competes with others is slower than calibrated, and calibrations are stored") {
  const TemporaryFolder folder;
  const fs::path file = folder / "loops.json";
  const std::vector<int> cores{os::allowed_cpus().front()};
  SpinLoops loops(cores, file, 0.004);
  loops.calibrate(1);
  loops.calibrate(7);  // more cores than exist: no change
  REQUIRE(loops.calibrated().size() == 1);
  CHECK(loops.calibrated().at(1) > 0);
  CHECK(SpinLoops(cores, file).calibrated() == loops.calibrated());

  // A core that three loops share runs each a third as fast as one loop alone.
  const std::vector<int> shared{cores[0], cores[0], cores[0]};
  std::string text = bytes_of(file);
  text.replace(text.find("\"1\""), 3, "\"3\"");
  write_file(file, text);
  SpinLoops slower(shared, file);
  CHECK(slower.slowdown(3) > 0.5);
  CHECK(slower.take_correction() == 0);
  write_file(file, "{\"multiply_add_steps\":1000,\"seconds\":{\"3\":1000.0}}");
  SpinLoops faster(shared, file);  // calibrated while the machine was busy
  CHECK(faster.slowdown(3) == 0);
  CHECK(faster.take_correction() > 1);
  CHECK(faster.take_correction() == 0);
  CHECK(faster.calibrated().at(3) < 1000);
  write_file(
      file,
      "{\"iterations\":1000,\"seconds\":{\"3\":1000.0}}");  // as in the first studies, with another loop
  CHECK(SpinLoops(shared, file).calibrated().empty());
  for (const char* damaged :
       {R"("three":1.0)", R"("3x":1.0)", R"("3":"slow")", R"("3":0)", R"("99999999999999999999":1)"}) {
    write_file(file, std::string("{\"multiply_add_steps\":1000,\"seconds\":{") + damaged + "}}");
    CHECK_THAT(error_of([&] { SpinLoops(shared, file); }), Contains("loops.json: is damaged: \""));
  }
}

TEST_CASE("energy is the sum over packages and memories, also when counters wrap around") {
  const TemporaryFolder folder;
  const auto zone = [&](const std::string& name, const std::string& kind, const std::string& energy) {
    write_file(folder / name / "name", kind + "\n");
    write_file(folder / name / "energy_uj", energy + "\n");
    write_file(folder / name / "max_energy_range_uj", "10000000\n");
  };
  zone("intel-rapl:0", "package-0", "9000000");
  zone("intel-rapl:0:0", "core", "1000000");  // a part of its package
  zone("intel-rapl:0:1", "dram", "500000");
  zone("intel-rapl:1", "psys", "0");  // contains everything else
  EnergyMeter meter(folder.path());
  CHECK(meter.is_available());
  meter.start();
  CHECK(meter.joules() == 0);
  zone("intel-rapl:0", "package-0", "2000000");  // 1 J to the end of the range, 2 J from its start
  zone("intel-rapl:0:0", "core", "7000000");
  zone("intel-rapl:0:1", "dram", "750000");
  CHECK(meter.joules() == Approx(3.25));
  fs::remove(folder / "intel-rapl:0" / "energy_uj");
  CHECK_FALSE(meter.joules());
  fs::remove(folder / "intel-rapl:0:1" / "max_energy_range_uj");
  EnergyMeter unknown(folder.path());
  unknown.start();
  zone("intel-rapl:0:1", "dram", "1");  // it wrapped around at an unknown number
  CHECK_FALSE(unknown.joules());

  EnergyMeter none(folder / "nowhere");
  CHECK_FALSE(none.is_available());
  none.start();
  CHECK_FALSE(none.joules());
}

TEST_CASE("a finished run is read from its folder") {
  const TemporaryFolder folder;
  write_file(folder / "summary.json", R"({"ranks": 2, "threads": 1, "epochs": 2, "makespan_seconds": 5.5,
    "images_per_second": 100.5, "core_seconds": 11, "peak_rss_mib": 64, "validation_accuracy": 0.7,
    "test": {"accuracy": 0.75, "f1": 0.74, "quadratic_kappa": -0.5, "roc_auc": 0.9, "seconds": 0.0625, "rule": "mean"},
    "phases": {"compute": {"max": 4, "mean": 3.5, "min": 3}, "exposed_communication": {"max": 1, "mean": 0.5, "min": 0},
               "load": {"mean": 0.25}, "evaluation": {"mean": 0.125}}})");
  write_file(
      folder / "environment.json",
      R"json({"date": "2026-01-02T03:04:05Z", "cpu": "AMD EPYC (family 25, model 17, stepping 1, 3.7 GHz)", "cores": 8, "memory": "DDR5", "placements":
    [{"rank": 0, "host": "n1", "cores": "0"}, {"rank": 1, "host": "n1", "cores": "1-2"},
     {"rank": 2, "host": "n2", "cores": "0"}]})json");
  // Two members: epoch 1 takes 2 s, epoch 2 takes 1.5 s.
  write_file(folder / "metrics.jsonl", R"({"event": "epoch", "member": 0, "epoch": 1, "seconds": 1.0}
{"event": "epoch", "member": 0, "epoch": 2, "seconds": 1.5, "accuracy": 0.5}
{"event": "validation", "member": 0, "epoch": 2}
{"event": "epoch", "member": 1, "epoch": 1, "seconds": 2.0}
{"event": "epoch", "member": 1, "epoch": 2, "seconds": 0.5, "accuracy": 0.75}
)");
  CHECK(read_finished_run(folder.path()).dataset_hash.empty());
  write_file(folder / "evaluation.json", R"({"content_hash": "crc32:13a47ca1"})");
  const Measurement run = read_finished_run(
      folder.path(),
      std::vector<std::string>{"peak_rss_mib", "test.rule", "phases.load", "phases.load.mean", "test.ece"});
  CHECK(run.dataset_hash == "crc32:13a47ca1");
  CHECK(run.machine == "AMD EPYC (family 25, model 17, stepping 1, 3.7 GHz), 8 cores, DDR5");
  std::string environment = bytes_of(folder / "environment.json");
  for (const char* type : {"Release", "Debug"}) {
    const std::string changed = std::string("{\"build_type\": \"") + type + "\", " + environment.substr(1);
    write_file(folder / "environment.json", changed);
    CHECK((read_finished_run(folder.path()).machine == run.machine) == (std::string(type) == "Release"));
  }
  CHECK_THAT(read_finished_run(folder.path()).machine, EndsWith(", not a release: Debug"));
  CHECK(run.ranks == 2);
  CHECK(run.epochs == 2);
  CHECK(run.makespan_seconds == 5.5);
  CHECK(run.core_seconds == 11);
  CHECK(run.accuracy == 0.75);
  CHECK(run.compute_seconds == 3.5);
  CHECK(run.communication_seconds == 0.5);
  CHECK_FALSE(run.gather_seconds);
  CHECK(run.epoch_seconds == 1.75);
  CHECK(run.training_accuracy == 0.625);  // of both members after the last epoch
  CHECK(run.validation_accuracy == 0.7);
  CHECK(run.f1 == 0.74);
  CHECK(run.quadratic_kappa == -0.5);
  CHECK(run.roc_auc == 0.9);
  CHECK(run.test_seconds == 0.0625);
  // Only numbers are values; texts, tables and missing names are not.
  CHECK(run.further ==
        std::map<std::string, double, std::less<>>{{"peak_rss_mib", 64}, {"phases.load.mean", 0.25}});
  write_file(folder / "summary.json", R"({"ranks": 2, "member_facts": [{"member": 0},
    {"member": 1, "failure": "shard.h5: gone"}]})");
  CHECK_THAT(error_of([&] { read_finished_run(folder.path()); }),
             Contains("member 1 left the vote: shard.h5: gone"));
  write_file(folder / "summary.json", R"({"ranks": 1, "threads": 1, "epochs": 2, "makespan_seconds": 5.5,
    "images_per_second": 100.5, "core_seconds": 5.5})");
  CHECK(read_finished_run(folder.path()).epoch_seconds ==
        2.5);  // one rank trains both members in turn: 3 s, then 2 s
  write_file(folder / "summary.json", R"({"ranks": 4, "threads": 1, "epochs": 200, "makespan_seconds": 5.5,
    "images_per_second": 100.5, "core_seconds": 5.5,
    "member_facts": [{"member": 0, "rank": 2, "epochs": 2}, {"member": 1, "rank": 2, "epochs": 1}]})");
  CHECK(read_finished_run(folder.path()).epoch_seconds == 2.5);  // so does one group of several
  CHECK(read_finished_run(folder.path()).epochs == 2);           // of 200: training stopped early
  CHECK(run.started == "2026-01-02T03:04:05Z");
  CHECK(bindings_of(folder.path()) == "host 0: 0; host 0: 1-2; host 1: 0");
  CHECK(bindings_of(folder / "nowhere").empty());

  write_file(folder / "summary.json", R"({"ranks": 2, "threads": 1, "epochs": 2})");
  CHECK_THAT(error_of([&] { read_finished_run(folder.path()); }),
             Contains("has no number \"makespan_seconds\""));
  fs::remove(folder / "summary.json");
  CHECK_THAT(error_of([&] { read_finished_run(folder.path()); }), Contains("summary.json cannot be read"));
}

TEST_CASE("the table of configurations has all known values, and marks in capitals") {
  Configuration configuration, other, untouched;
  configuration.at.system = other.at.system = untouched.at.system = "net";
  configuration.at.mode = other.at.mode = untouched.at.mode = "sync";
  configuration.name = "net-sync-1x1", other.name = "net-sync-2x1", untouched.name = "net-sync-4x1";
  other.at.ranks = 2, untouched.at.ranks = 4;
  std::vector<Measurement> runs(5);
  for (Measurement& run : runs) run.system = "net", run.mode = "sync";
  for (std::size_t i = 0; i < 3; ++i) runs[i].makespan_seconds = 10 + static_cast<double>(i);
  runs[0].marks = runs[1].marks = runs[2].marks = {"oversubscribed"};
  runs[3].ranks = runs[4].ranks = 2;
  runs[3].makespan_seconds = 4, runs[4].marks = {"failed"};
  const std::vector<Configuration> configurations{configuration, other, untouched};
  const Words lines = configuration_table(configurations, runs);
  REQUIRE(lines.size() == 4);
  // scipy.stats.t.interval(0.95, 2, loc=11, scale=sqrt(1/3)): 8.516, 13.484; 22.6 %.
  CHECK_THAT(lines[1], Contains(" 3 ") && Contains("11.0") && Contains("8.52 .. 13.5") && Contains("22.6 %"));
  CHECK_THAT(lines[1],
             StartsWith("!net-sync-1x1 ") && Contains("OVERSUBSCRIBED"));  // visible on a narrow terminal too
  CHECK_THAT(lines[2], StartsWith("net-sync-2x1 "));
  CHECK_THAT(lines[2], Contains("4.00") && Contains("1 FAILED") && Contains("one run: no interval"));
  CHECK_THAT(lines[3], Contains("net-sync-4x1") && Contains("-"));
  runs[1].makespan_seconds = runs[2].makespan_seconds = 10;
  CHECK_THAT(configuration_table(configurations, runs)[1], Contains("all equal"));
  CHECK(configuration_table(std::span(configurations).first(1), runs).at(2) ==
        "measured, but not in the study file: net-sync-2x1");
}

TEST_CASE("emulated members take the time of the slowest one and of the gathering") {
  const TemporaryFolder folder;
  // A member of two ranks each: makespans of 10 s and 12 s, then gathering in 1 s; the votes took 9 s more.
  write_file(folder / "members/member-000/summary.json",
             R"({"makespan_seconds": 10, "seconds_to_first_step": 1,
    "images_per_second": 100, "test": {"seconds": 0.5}, "phases": {"steps": {"max": 8}},
    "rank_phases": {"load": [1, 1], "steps": [8, 6], "compute": [6, 5], "exposed_communication": [2, 1],
                    "evaluation": [0.5, 0.5], "gather": [0.25, 0]}})");
  write_file(folder / "members/member-001/summary.json",
             R"({"makespan_seconds": 12, "seconds_to_first_step": 0.5,
    "images_per_second": 80, "test": {"seconds": 0.75}, "phases": {"steps": {"max": 10}},
    "rank_phases": {"load": [0.5, 0.5], "steps": [10, 10], "compute": [9, 10], "exposed_communication": [1, 0],
                    "evaluation": [0.75, 0.75], "gather": [0.5, 0]}})");
  write_file(folder / "members/member-000/metrics.jsonl",
             R"({"event": "epoch", "member": 0, "epoch": 1, "seconds": 8.0}
{"event": "evaluation", "split": "test", "member_accuracy": [0.5]}
)");
  write_file(folder / "members/member-001/metrics.jsonl",
             R"({"event": "epoch", "member": 1, "epoch": 1, "seconds": 10.0}
)");
  write_file(folder / "metrics.jsonl", R"({"event": "evaluation", "split": "test", "majority_accuracy": 0.75}
)");
  write_file(folder / "environment.json", R"({"date": "2026-01-02T03:04:05Z"})");
  write_file(folder / "summary.json",
             R"({"ranks": 4, "threads": 1, "cores": 4, "epochs": 1, "makespan_seconds": 22,
    "images_per_second": 180, "core_seconds": 44, "test": {"accuracy": 0.75, "seconds": 9},
    "phases": {"gather": {"max": 1}, "evaluation": {"max": 9}}})");

  complete_emulated_run(folder.path());
  const Measurement run = read_finished_run(
      folder.path(), std::vector<std::string>{"phases.steps.max", "phases.load.min", "exposed_share"});
  CHECK(run.makespan_seconds == 13);
  CHECK(run.core_seconds == 52);
  CHECK(run.images_per_second == (100 * 8 + 80 * 10) / 10.0);
  CHECK(run.test_seconds == 0.625);
  CHECK(run.accuracy == 0.75);
  CHECK(run.evaluation_seconds == 0.625);
  CHECK(run.gather_seconds.value() == Approx((0.25 + 0.5) / 4 + 1));
  CHECK(run.epoch_seconds == 10);  // both logs
  CHECK(run.further.at("phases.steps.max") == 10);
  CHECK(run.further.at("phases.load.min") == 0.5);
  CHECK(run.further.at("exposed_share") == Approx(4 / 34.0));
  CHECK_THAT(bytes_of(folder / "summary.json"), Contains("\"emulated\": true"));
  CHECK_THAT(bytes_of(folder / "metrics.jsonl"),
             Contains("majority_accuracy") && !Contains("member_accuracy"));

  write_file(folder / "members/member-001/summary.json", R"({"makespan_seconds": 12})");
  CHECK_THAT(error_of([&] { complete_emulated_run(folder.path()); }),
             Contains("member-001/summary.json has no number \"seconds_to_first_step\""));
  fs::remove(folder / "members/member-001/summary.json");
  CHECK_THAT(error_of([&] { complete_emulated_run(folder.path()); }),
             Contains("member-001/summary.json cannot be read"));
}
