// These tests check the files in the folder of a run and the right to write there. They also follow and
// compare runs.

#include "apps/place.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/shell.hpp"

TEST_CASE("a run writes a complete folder") {
  const Place place;
  place.train("run", "--set 'description=two words'", 2).ends(0).shows("run folder: run");
  CHECK_THAT(bytes_of(place / "run/environment.json"),
             Contains(" --set 'description=two words'"));  // to paste
  for (const char* file :
       {"recipe.toml", "environment.json", "metrics.jsonl", "summary.json", "evaluation.json", "model.h5",
        "checkpoints/epoch-0002.h5", "checkpoints/epoch-0003.h5"}) {
    CAPTURE(file);
    CHECK(fs::exists(place / ("run/" + std::string(file))));
  }
  CHECK_FALSE(fs::exists(place / "run/checkpoints/epoch-0001.h5"));
  for (const char* wanted : {"tensorboard", "metrics.csv"}) CHECK_FALSE(fs::exists(place / "run" / wanted));
  const std::string summary = bytes_of(place / "run/summary.json");
  for (const char* key : {"ranks",
                          "threads",
                          "all_threads",
                          "cores",
                          "members",
                          "mode",
                          "reduction",
                          "makespan_seconds",
                          "load",
                          "compute",
                          "exposed_communication",
                          "evaluation",
                          "gather",
                          "images_per_second",
                          "core_seconds",
                          "peak_rss_mib",
                          "parameters",
                          "accuracy",
                          "precision",
                          "recall",
                          "f1",
                          "prefix_accuracy",
                          "disagreement",
                          "validation_accuracy"}) {
    CAPTURE(key);
    CHECK_THAT(summary, Contains("\"" + std::string(key) + "\": "));
  }
  CHECK_THAT(summary, Contains("\"ranks\": 2"));
  // No rate exceeds the makespan: 3 epochs of 120 samples.
  CHECK(3 * 120 / summary_number(place / "run", "images_per_second") <=
        summary_number(place / "run", "makespan_seconds"));
  // The resolved recipe is a recipe, and gives the same model.
  REQUIRE(place.run("train run/recipe.toml --quiet --output again").code == 0);
  CHECK(bytes_of(place / "again/model.h5") == bytes_of(place / "run/model.h5"));
}

TEST_CASE("a run folder is never overwritten") {
  const Place place;
  REQUIRE(place.train("run").code == 0);
  const std::string before = bytes_of(place / "run/model.h5");
  place.train("run", "--set seed=4", 2).fails("error: run: is not empty");
  CHECK(bytes_of(place / "run/model.h5") == before);
  // Without --output every run makes its own folder.
  for (int i = 0; i < 2; ++i) REQUIRE(place.run("train recipe.toml --quiet --set train.epochs=1").code == 0);
  CHECK(entries_in(place / "runs").size() == 2);
  // An unwritable folder is an error of all ranks, printed once.
  place.train("/proc/run", "", 2).fails("/proc/run: cannot be written: ");
}

TEST_CASE("a run folder has one run at a time, and the lock of a killed run is taken over") {
  const Place place;
  during_a_run(place, "--set train.epochs=1000000",
               binary() +
                   " train recipe.toml --quiet --output run --resume; echo second $?; "
                   "kill -9 $pid; wait $pid")
      .shows("error: run: is in use by process ")
      .shows("hint: wait for it, or end it with `kill ")
      .shows("second 1");
  place.train("run", "--resume").ends(0).shows(", which has ended");
  CHECK_FALSE(fs::exists(place / "run/lock"));
}

TEST_CASE("watch follows a run through its folder, from start to end") {
  const Place place;
  const Outcome watched = during_a_run(place, "--set train.epochs=200 > /dev/null",
                                       binary() + " watch run --interval 0.2; echo ended with $?; wait");
  CAPTURE(watched.text);
  CHECK((watched.says("run: begins") || watched.says("run: running: process ")));
  CHECK(watched.says("run: complete"));
  CHECK(watched.says("ended with 0"));
  CHECK(watched.says("1 rank x 1 thread on "));
  CHECK(watched.says("loss by epoch   * training   o validation"));

  const Place other;
  during_a_run(other, "--set train.epochs=1000000", "kill -TERM $pid; wait $pid").ends(85);
  other.run("watch run")
      .ends(1)
      .shows("run: stopped; unless supervise or a queue does, continue with: convoke train --resume run")
      .shows("checkpoint   checkpoints/epoch-");
  CHECK(place.run("watch recipe.toml").says("error: recipe.toml: is not a run folder"));
}

TEST_CASE("compare reads a folder that holds only a summary") {
  const Place place;
  write_file(place / "bare/summary.json",
             R"({"name": "tiny", "mode": "sync", "ranks": 2, "threads": 1, "members": 1,
    "makespan_seconds": 2.5, "images_per_second": 144.0, "core_seconds": 5.0,
    "test": {"samples": 60, "accuracy": 0.5, "precision": 0.5, "recall": 0.5, "f1": 0.5}})");
  REQUIRE(place.train("new", "--set train.epochs=1", 2).code == 0);
  const Outcome outcome = place.run("compare bare new").ends(0);
  CAPTURE(outcome.text);
  outcome.shows("2.50 s");
  // The name is in the ranking, above its column, and in the list of folders.
  CHECK(outcome.times("bare: synchronous, 2 x 1") == 3);
  CHECK(outcome.times("new: synchronous, 2 x 1") == 3);
  CHECK_FALSE(outcome.says("The recipes differ in"));
  CHECK(outcome.says("no verdict: there is no ensemble among these runs."));
  place.run("compare bare nowhere").ends(1).shows("nowhere: is not a run folder");
}

TEST_CASE("compare ranks a sweep by validation and shows the keys that differ") {
  const Place place;
  for (const char* rate : {"0.01", "0.00001"}) {
    const std::string name = std::string("rate-") + rate;
    REQUIRE(place.train(name, std::string("--set train.optimizer.learning_rate=") + rate).code == 0);
  }
  const Outcome outcome = place.run("compare rate-0.00001 rate-0.01").ends(0);
  outcome.shows("train.optimizer.learning_rate")
      .never("train.epochs")
      .shows("Ranked by validation accuracy.");
  const std::size_t better = outcome.text.find("1      rate-0.01");
  const std::size_t worse = outcome.text.find("2      rate-0.00001");
  CHECK(better < worse);
  CHECK(worse != std::string::npos);
}
