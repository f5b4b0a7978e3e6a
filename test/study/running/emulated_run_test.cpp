#include "convoke/study/running/finished_run.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using namespace convoke::study;

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
