// Training from end to end with the real binary, on small data: results must not depend on ranks or threads,
// and an error must end all ranks with one message.
#include <cmath>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "apps/failing_renames.hpp"
#include "apps/place.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/random.hpp"
#include "convoke/data/dataset_writer.hpp"
#include "convoke/data_prep/files/npy.hpp"
#include "convoke/hdf5/file.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/run/model_file.hpp"
#include "support/catch.hpp"
#include "support/shell.hpp"
#include "support/temporary_folder.hpp"

namespace {

constexpr const char* kEnsemble = "--set train.mode=ensemble --set ensemble.members=3";

// Returns the output of the run and of `commands`, which start once the run has made a step; $pid is the run.
Outcome during_a_run(const Place& place, const std::string& options, const std::string& commands) {
  return shell("cd " + place.folder.path().string() + " && { " + binary() +
               " train recipe.toml --quiet --output run " + options +
               " & pid=$!; until [ -s run/metrics.jsonl ]; do sleep 0.05; done; " + commands + "; }");
}

}  // namespace

TEST_CASE("an exact run gives the same model.h5, byte for byte, on 1 to 4 ranks and 1 or 2 threads") {
  const Place place;
  REQUIRE(place.train("expected").code == 0);
  const std::string expected = bytes_of(place / "expected/model.h5");
  REQUIRE(expected.size() > 1000);
  for (const int ranks : {1, 2, 3, 4}) {
    for (const int threads : {1, 2}) {
      if (ranks * threads == 1) continue;
      CAPTURE(ranks, threads);
      const std::string output = "run-" + std::to_string(ranks) + "-" + std::to_string(threads);
      const Outcome outcome = place.train(output, "--set run.threads=" + std::to_string(threads), ranks);
      CAPTURE(outcome.text);
      CHECK(outcome.code == 0);
      CHECK(bytes_of(place / (output + "/model.h5")) == expected);
    }
  }
  REQUIRE(place.train("other", "--set seed=4").code == 0);
  CHECK(bytes_of(place / "other/model.h5") != expected);
}

TEST_CASE("a fraction of the samples is the same on any number of ranks, also for members") {
  const Place place;
  const std::string half = "--set data.fraction=0.5";
  std::string sync, ensemble;
  for (const int ranks : {1, 3}) {
    CAPTURE(ranks);
    const std::string output = "half-" + std::to_string(ranks);
    REQUIRE(place.train(output, half, ranks).code == 0);
    REQUIRE(place.train(output + "-e", half + " " + kEnsemble, ranks).code == 0);
    if (sync.empty()) sync = bytes_of(place / (output + "/model.h5"));
    if (ensemble.empty()) ensemble = bytes_of(place / (output + "-e/ensemble.h5"));
    CHECK(bytes_of(place / (output + "/model.h5")) == sync);
    CHECK(bytes_of(place / (output + "-e/ensemble.h5")) == ensemble);
  }
  // 150 samples, of which 30 are held out; three shards of 50, 10 of each.
  CHECK(bytes_of(place / "half-1/summary.json").find("\"training_samples\": 60") != std::string::npos);
  const std::string members = bytes_of(place / "half-1-e/summary.json");
  CHECK(members.find("\"training_samples\": 20") != std::string::npos);
}

TEST_CASE("an exact ensemble gives the same ensemble.h5 on one rank, one rank per member, and in groups") {
  const Place place;
  std::string expected;
  for (const int ranks : {1, 2, 3, 5}) {
    CAPTURE(ranks);
    const std::string output = "run-" + std::to_string(ranks);
    const Outcome outcome = place.train(output, kEnsemble, ranks);
    CAPTURE(outcome.text);
    CHECK(outcome.code == 0);
    CHECK(outcome.says("ensemble of 3"));
    CHECK(outcome.times("weighted avg") == 1);
    if (expected.empty()) expected = bytes_of(place / (output + "/ensemble.h5"));
    CHECK(bytes_of(place / (output + "/ensemble.h5")) == expected);
    CHECK_FALSE(fs::exists(place / (output + "/model.h5")));
  }
}

TEST_CASE("a run writes a complete folder") {
  const Place place;
  const Outcome outcome = place.train("run", "", 2);
  CAPTURE(outcome.text);
  REQUIRE(outcome.code == 0);
  CHECK(outcome.says("run folder: run"));
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
    CHECK(summary.find("\"" + std::string(key) + "\": ") != std::string::npos);
  }
  CHECK(summary.find("\"ranks\": 2") != std::string::npos);
  // No rate exceeds the makespan: 3 epochs of 120 samples.
  const auto number = [&](const std::string& key) {
    return std::stod(summary.substr(summary.find("\"" + key + "\": ") + key.size() + 4));
  };
  CHECK(3 * 120 / number("images_per_second") <= number("makespan_seconds"));
  // The resolved recipe is a recipe, and gives the same model.
  REQUIRE(place.run("train run/recipe.toml --quiet --output again").code == 0);
  CHECK(bytes_of(place / "again/model.h5") == bytes_of(place / "run/model.h5"));
}

TEST_CASE("compare reads a folder that holds only a summary") {
  const Place place;
  fs::create_directories(place / "bare");
  write_text(place / "bare/summary.json",
             R"({"name": "tiny", "mode": "sync", "ranks": 2, "threads": 1, "members": 1,
    "makespan_seconds": 2.5, "images_per_second": 144.0, "core_seconds": 5.0,
    "test": {"samples": 60, "accuracy": 0.5, "precision": 0.5, "recall": 0.5, "f1": 0.5}})");
  REQUIRE(place.train("new", "--set train.epochs=1", 2).code == 0);
  const Outcome outcome = place.run("compare bare new");
  CAPTURE(outcome.text);
  CHECK(outcome.code == 0);
  CHECK(outcome.says("2.50 s"));
  // The name is in the ranking, above its column, and in the list of folders.
  CHECK(outcome.times("bare: synchronous, 2 x 1") == 3);
  CHECK(outcome.times("new: synchronous, 2 x 1") == 3);
  CHECK_FALSE(outcome.says("The recipes differ in"));
  CHECK(outcome.says("no verdict: there is no ensemble among these runs."));
  const Outcome unfinished = place.run("compare bare nowhere");
  CHECK(unfinished.code == 1);
  CHECK(unfinished.says("nowhere: is not a run folder"));
}

TEST_CASE("compare ranks a sweep by validation and shows the keys that differ") {
  const Place place;
  for (const char* rate : {"0.01", "0.00001"}) {
    const std::string name = std::string("rate-") + rate;
    REQUIRE(place.train(name, std::string("--set train.optimizer.learning_rate=") + rate).code == 0);
  }
  const Outcome outcome = place.run("compare rate-0.00001 rate-0.01");
  CAPTURE(outcome.text);
  CHECK(outcome.code == 0);
  CHECK(outcome.says("train.optimizer.learning_rate"));
  CHECK_FALSE(outcome.says("train.epochs"));
  CHECK(outcome.says("Ranked by validation accuracy."));
  const std::size_t better = outcome.text.find("1      rate-0.01");
  const std::size_t worse = outcome.text.find("2      rate-0.00001");
  CHECK(better < worse);
  CHECK(worse != std::string::npos);
}

TEST_CASE("threads that share a core cost one core, and the run reports it") {
  const Place place;
  const Outcome outcome =
      place.run("train recipe.toml --set train.epochs=1 --set run.threads=3 --output run", "taskset -c 0");
  CAPTURE(outcome.text);
  REQUIRE(outcome.code == 0);
  CHECK(outcome.says("(OVERSUBSCRIBED: 3 threads on 1 core)"));
  const convoke::Settings summary =
      convoke::metrics::settings_from_json(bytes_of(place / "run/summary.json"), "");
  CHECK(convoke::number_at(summary, "all_threads") == 3);
  CHECK(convoke::number_at(summary, "cores") == 1);
  CHECK(convoke::number_at(summary, "core_seconds") ==
        Catch::Approx(convoke::number_at(summary, "makespan_seconds")));
}

TEST_CASE("a run folder is never overwritten") {
  const Place place;
  REQUIRE(place.train("run").code == 0);
  const std::string before = bytes_of(place / "run/model.h5");
  const Outcome outcome = place.train("run", "--set seed=4", 2);
  CHECK(outcome.code == 1);
  CHECK(outcome.times("error: run: is not empty") == 1);
  CHECK(bytes_of(place / "run/model.h5") == before);
  // Without --output every run makes its own folder.
  for (int i = 0; i < 2; ++i) REQUIRE(place.run("train recipe.toml --quiet --set train.epochs=1").code == 0);
  CHECK(std::distance(fs::directory_iterator(place / "runs"), {}) == 2);
  // An unwritable folder is an error of all ranks, printed once.
  const Outcome unwritable = place.train("/proc/run", "", 2);
  CHECK(unwritable.code == 1);
  CHECK(unwritable.times("/proc/run: cannot be written: ") == 1);
}

TEST_CASE("a resumed run ends like an uninterrupted run, also on other ranks") {
  const Place place;
  REQUIRE(place.train("whole").code == 0);
  REQUIRE(place.train("run", "--set train.epochs=1", 2).code == 0);
  fs::remove(place / "run/model.h5");
  const Outcome resumed = place.train("run", "--resume", 3);
  CAPTURE(resumed.text);
  CHECK(resumed.code == 0);
  CHECK(bytes_of(place / "run/model.h5") == bytes_of(place / "whole/model.h5"));
}

TEST_CASE("a damaged checkpoint is reported, and the one before it is used") {
  const Place place;
  REQUIRE(place.train("whole").code == 0);
  REQUIRE(place.train("run", "--set train.epochs=2").code == 0);
  fs::resize_file(place / "run/checkpoints/epoch-0002.h5",
                  fs::file_size(place / "run/checkpoints/epoch-0002.h5") / 2);
  const Outcome resumed = place.run("train recipe.toml --output run --resume", mpirun(2));
  CAPTURE(resumed.text);
  CHECK(resumed.code == 0);
  CHECK(resumed.times("checkpoint skipped: run/checkpoints/epoch-0002.h5") == 1);
  CHECK(resumed.says("resumed after 1 epoch"));
  CHECK(bytes_of(place / "run/model.h5") == bytes_of(place / "whole/model.h5"));

  const Outcome other = place.train("run", "--resume --set train.batch=16", 2);
  CHECK(other.code == 1);
  CHECK(other.times("train.batch: 32 in the checkpoint, 16 now") == 1);
}

TEST_CASE("a signal ends a run at a checkpoint with exit code 85, and it can be resumed") {
  const Place place;
  const Outcome stopped =
      shell("cd " + place.folder.path().string() + " && { " + mpirun(2) + " " + binary() +
            " train recipe.toml --quiet --output run --set train.epochs=1000000 & job=$!; "
            "until ls run/checkpoints/epoch-*.h5 > files 2> /dev/null; do sleep 0.05; done; kill -USR1 $job; "
            "wait $job; }");
  CAPTURE(stopped.text);
  CHECK(stopped.code == 85);
  CHECK(stopped.times("Stopped by SIGUSR1, with a checkpoint; continue with: convoke train --resume run\n") ==
        1);
  CHECK_FALSE(fs::is_empty(place / "run/checkpoints"));
  CHECK_FALSE(fs::exists(place / "run/summary.json"));
  const Outcome resumed = place.train("run", "--resume");
  CHECK(resumed.code == 0);
  CHECK(fs::exists(place / "run/summary.json"));
}

TEST_CASE("the command that a stopped run prints continues with all its settings, to the same bits") {
  const Place place;
  const std::string changes = "--set train.epochs=400 --set train.optimizer.beta_1=0.8 --quiet ";
  REQUIRE(place.run("train recipe.toml --output whole " + changes).code == 0);
  const Outcome stopped =
      shell("cd " + place.folder.path().string() + " && { " + binary() + " train recipe.toml --output run " +
            changes +
            " & job=$!; until ls run/checkpoints/epoch-*.h5 > files 2> /dev/null; do sleep 0.05; "
            "done; kill -TERM $job; wait $job; }");
  CAPTURE(stopped.text);
  REQUIRE(stopped.code == 85);
  const std::string before = "continue with: convoke ";
  const std::size_t line = stopped.text.find(before) + before.size();
  const Outcome resumed = place.run(stopped.text.substr(line, stopped.text.find('\n', line) - line));
  CAPTURE(resumed.text);
  CHECK(resumed.code == 0);
  CHECK(bytes_of(place / "run/summary.json").find("\"epochs\": 400") != std::string::npos);
  CHECK(bytes_of(place / "run/model.h5") == bytes_of(place / "whole/model.h5"));
}

TEST_CASE("a resumed run accepts and stores changes that do not affect its result, and refuses others") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  const auto go_on = [&](const std::string& more) { return place.run("train --quiet --resume run " + more); };
  const Outcome other = go_on("--set train.batch=16");
  CHECK(other.code == 1);
  CHECK(other.says("its resume fingerprint differs (train.batch: 32 in the checkpoint, 16 now)"));
  const Outcome more = go_on("--set train.epochs=2 --set run.threads=2");
  CAPTURE(more.text);
  CHECK(more.code == 0);
  CHECK(bytes_of(place / "run/recipe.toml").find("epochs = 2\n") != std::string::npos);
  CHECK(go_on("").code == 0);
  CHECK(bytes_of(place / "run/summary.json").find("\"epochs\": 2,") != std::string::npos);

  CHECK(go_on("recipe.toml").says("uses the recipe that is stored in the run, but recipe.toml is given too"));
  CHECK(go_on("--output elsewhere").says("remove --output"));
  CHECK_FALSE(fs::exists(place / "elsewhere"));
  CHECK(place.run("train --resume nowhere").says("nowhere: has no recipe.toml"));
  CHECK(place.run("train --resume").says("--resume RUN, or --output RUN --resume"));
  CHECK(place.run("train --output x").says("RECIPE is required"));
}

TEST_CASE("a signal to one rank of an ensemble stops all members, also of several on one rank") {
  const Place place;
  const auto signalled = [&](const std::string& output, const std::string& more, const std::string& begun,
                             int rank) {
    // Each rank writes its process number before it becomes convoke.
    return shell("cd " + place.folder.path().string() + " && { " + mpirun(3) +
                 " sh -c 'echo $$ > pid.$OMPI_COMM_WORLD_RANK; exec \"$0\" \"$@\"' " + binary() +
                 " train recipe.toml --quiet --output " + output + " --set train.mode=ensemble " + more +
                 " & job=$!; until [ -s " + output + "/checkpoints/" + begun +
                 " ]; do sleep 0.05; done; kill -USR1 $(cat pid." + std::to_string(rank) + "); wait $job; }");
  };
  const std::string endless = "--set train.epochs=1000000 --set ensemble.members=";
  const Outcome stopped = signalled("run", endless + "3", "member-002", 2);
  CAPTURE(stopped.text);
  CHECK(stopped.code == 85);
  CHECK(stopped.times("Stopped by SIGUSR1, with a checkpoint; continue with: ") == 1);
  for (const char* member : {"member-000", "member-001", "member-002"}) {
    CHECK_FALSE(fs::is_empty(place / ("run/checkpoints/" + std::string(member))));
  }
  CHECK(place.train("run", "--resume --set train.mode=ensemble --set ensemble.members=3", 2).code == 0);

  // Rank 0 trains the last of four alone, for half a second or more; the other ranks wait.
  const Outcome waiting =
      signalled("turns", "--set train.epochs=700 --set run.checkpoint_every=0 --set ensemble.members=4",
                "member-003", 1);
  CAPTURE(waiting.text);
  CHECK(waiting.code == 85);
  CHECK_FALSE(fs::exists(place / "turns/ensemble.h5"));
}

TEST_CASE("the error for a loss that is not finite names layer and step, once, and ends all ranks") {
  const Place place;
  const Outcome outcome = place.train("run", "--set train.optimizer.learning_rate=1e30", 3);
  CAPTURE(outcome.text);
  CHECK(outcome.code == 1);
  CHECK(outcome.times("error: the loss is not finite") == 1);
  CHECK(std::regex_search(outcome.text,
                          std::regex("not finite at epoch 1, step [0-9]+: first in \\w+ on rank [0-9]")));
  CHECK(outcome.says("hint: "));
}

TEST_CASE("a resumed run keeps the micro-batch of its checkpoints, which another version chose") {
  const Place place;
  const std::string batch = "--set train.batch=64 --set train.micro_batch=16 ";
  REQUIRE(place.train("straight", batch + "--set train.epochs=2").code == 0);
  for (const char* mode : {"sync", "ensemble"}) {
    const std::string run = mode;
    const std::string members = std::string("--set ensemble.members=2 --set train.mode=") + mode;
    REQUIRE(place.train(run, batch + "--set train.epochs=1 " + members).code == 0);
    const std::string stored = bytes_of(place / (run + "/recipe.toml"));
    const std::string chosen = "micro_batch = 16\n";
    const std::size_t at = stored.find(chosen);
    REQUIRE(at != std::string::npos);
    write_text(place / (run + "/recipe.toml"),
               stored.substr(0, at) + "micro_batch = \"auto\"\n" + stored.substr(at + chosen.size()));
    const Outcome resumed = place.run("train --quiet --set train.epochs=2 --resume " + run, mpirun(2));
    CAPTURE(resumed.text);
    CHECK(resumed.code == 0);
    CHECK(resumed.times("micro-batches of 16 samples, as in the checkpoints of " + run +
                        "; train.micro_batch = \"auto\" is now 8") == 1);
  }
  CHECK(bytes_of(place / "sync/model.h5") == bytes_of(place / "straight/model.h5"));
  // A folder without checkpoints begins with the micro-batch of today.
  CHECK(place.run("train recipe.toml --quiet --output new --resume --set train.micro_batch=auto").code == 0);
}

TEST_CASE("more ranks than samples or micro-batches") {
  const Place place(5);
  const std::string no_validation = "--set data.validation_split=0";
  REQUIRE(place.train("one", no_validation).code == 0);
  const Outcome many = place.train("many", no_validation + " --set run.threads=2", 7);
  CAPTURE(many.text);
  CHECK(many.code == 0);
  CHECK(many.says("worker threads stay idle"));
  CHECK(bytes_of(place / "many/model.h5") == bytes_of(place / "one/model.h5"));
  const Outcome hungry = place.train("ensemble", no_validation + " --set train.mode=ensemble", 7);
  CHECK(hungry.code == 1);
  CHECK(hungry.times("error: ") == 1);
  CHECK(hungry.says("hint: "));
}

TEST_CASE("a dataset that does not fit the model is refused, naming both") {
  const Place place;
  write_dataset(place / "large.h5", 60, 12);
  write_dataset(place / "five.h5", 60, 8, 5);
  const Outcome shape = place.train("run", "--set data.path=large.h5", 2);
  CAPTURE(shape.text);
  CHECK(shape.code == 1);
  CHECK(shape.times("large.h5 has samples of shape (1, 12, 12), but the model of tiny takes (1, 8, 8)") == 1);
  const Outcome classes = place.train("run", "--set data.path=five.h5", 2);
  CHECK(classes.code == 1);
  CHECK(classes.times("five.h5 has 5 classes, but the model of tiny predicts 4") == 1);
  const Outcome split = place.train("run", "--set data.test_split=tests", 2);
  CHECK(split.code == 1);
  CHECK(split.times("has no split \"tests\" (did you mean \"test\"?)") == 1);
  CHECK_FALSE(fs::exists(place / "run"));

  REQUIRE(place.train("run").code == 0);
  const Outcome evaluated = place.run("evaluate run --data five.h5", mpirun(2));
  CHECK(evaluated.code == 1);
  CHECK(evaluated.times("five.h5 has 5 classes, but the model of run/model.h5 predicts 4") == 1);
}

TEST_CASE("a rank that throws ends all ranks, and its message is printed once") {
  const Place place;
  // A single rank cannot create its folder: this affects all members, so it ends the job.
  fs::create_directories(place / "run");
  write_text(place / "run/checkpoints", "in the way");
  const Outcome outcome = place.train("run", "--resume --set train.epochs=1", 3);
  CAPTURE(outcome.text);
  CHECK(outcome.code == 1);
  CHECK(outcome.times("error: run/checkpoints") == 1);
}

TEST_CASE(
    "a full disk while a checkpoint is written is reported, training goes on, and the earlier one stays") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  fail_next_rename_to(place / "run/checkpoints/epoch-0002.h5");
  const FailingRenames preloaded;
  const Outcome outcome = place.train("run", "--resume --set train.epochs=3", 2);
  CAPTURE(outcome.text);
  CHECK(outcome.code == 0);
  CHECK(outcome.times("run/checkpoints/epoch-0002.h5: cannot be written") == 1);
  CHECK(outcome.says("No space left on device; training goes on, earlier checkpoints are unchanged"));
  CHECK(outcome.says("1 left out"));
  CHECK_FALSE(fs::exists(place / "run/checkpoints/epoch-0002.h5"));
  CHECK(fs::exists(place / "run/checkpoints/epoch-0001.h5"));
  CHECK(fs::exists(place / "run/checkpoints/epoch-0003.h5"));
}

TEST_CASE("checkpoints by steps and by time, with the requested number, and best models") {
  const Place place;
  const Outcome outcome = place.train("run",
                                      "--set run.checkpoint_every='\"3 steps\"' --set run.keep_checkpoints=4 "
                                      "--set run.keep_best=2 --set train.epochs=8");
  CAPTURE(outcome.text);
  REQUIRE(outcome.code == 0);
  std::size_t kept = 0;
  std::size_t within_epochs = 0;
  for (const auto& entry : fs::directory_iterator(place / "run/checkpoints")) {
    const std::string name = entry.path().filename().string();
    kept += name.starts_with("epoch-") ? 1U : 0U;
    within_epochs += name.find("-step-") != std::string::npos ? 1U : 0U;
  }
  CHECK(kept == 4);
  CHECK(within_epochs > 0);
  CHECK(fs::exists(place / "run/checkpoints/best.h5"));
  CHECK(outcome.says("training waited at most"));

  const Outcome timed = place.train("timed", "--set run.checkpoint_every='\"0.001 s\"'");
  CHECK(timed.code == 0);
  CHECK(fs::exists(place / "timed/checkpoints/epoch-0003.h5"));
  REQUIRE(place.train("plain").code == 0);
  CHECK(bytes_of(place / "timed/model.h5") == bytes_of(place / "plain/model.h5"));
}

TEST_CASE("a run folder has one run at a time, and the lock of a killed run is taken over") {
  const Place place;
  const Outcome both = during_a_run(place, "--set train.epochs=1000000",
                                    binary() +
                                        " train recipe.toml --quiet --output run --resume; echo second $?; "
                                        "kill -9 $pid; wait $pid");
  CAPTURE(both.text);
  CHECK(both.says("error: run: is in use by process "));
  CHECK(both.says("hint: wait for it, or end it with `kill "));
  CHECK(both.says("second 1"));
  const Outcome resumed = place.train("run", "--resume");
  CAPTURE(resumed.text);
  CHECK(resumed.code == 0);
  CHECK(resumed.says(", which has ended"));
  CHECK_FALSE(fs::exists(place / "run/lock"));
}

namespace {

// Before the program: ranks in a Slurm job that ends in `left` ("0:04"). The path is set behind mpirun, which
// puts its own folder first, where a real squeue may be.
std::string in_job(const Place& place, int ranks, const std::string& left) {
  write_text(place / "squeue", "#!/bin/sh\necho " + left + "\n");
  fs::permissions(place / "squeue", fs::perms::owner_all);
  return mpirun(ranks) + " env SLURM_JOB_ID=7 PATH=.:$PATH";
}

}  // namespace

TEST_CASE("a run stops with a checkpoint before its job ends, and asks to be requeued") {
  const Place place;
  const Outcome stopped =
      place.run("train recipe.toml --quiet --output run --set run.stop_before=2s --set train.epochs=1000000",
                in_job(place, 2, "0:04"));
  CAPTURE(stopped.text);
  CHECK(stopped.code == 85);
  CHECK(stopped.times("Stopped by the end of the job's time, with a checkpoint; continue with: ") == 1);
  CHECK(place.run("train recipe.toml --quiet --output run --resume auto", in_job(place, 3, "0:04")).code ==
        0);

  const Outcome late = place.run("train recipe.toml --quiet --output late --set run.stop_before='\"1 min\"'",
                                 in_job(place, 2, "0:04"));
  CAPTURE(late.text);
  CHECK(late.code == 1);
  CHECK(late.times("error: this job ends in 4 s, but run.stop_before reserves the last 60 s") == 1);
}

TEST_CASE("a run that cannot write its last checkpoint ends with an error, and is not requeued") {
  const Place place;
  const Outcome stopped =
      during_a_run(place, "--set run.checkpoint_every=0 --set run.keep_best=false --set train.epochs=1000000",
                   "rmdir run/checkpoints; : > run/checkpoints; kill -USR1 $pid; wait $pid");
  CAPTURE(stopped.text);
  CHECK(stopped.code == 1);
  CHECK(stopped.says("error: run/checkpoints/epoch-"));
  CHECK(stopped.says("cannot be written"));
  CHECK(stopped.says("hint: free some disk space; earlier checkpoints in run/checkpoints are unchanged"));
  CHECK_FALSE(stopped.says("Stopped by"));
}

TEST_CASE("many signals in quick succession stop a run with a checkpoint, and do not kill it") {
  const Place place;
  const Outcome stopped = during_a_run(place, "--set train.epochs=1000000",
                                       "while kill -USR1 $pid 2> /dev/null; do sleep 0.002; done; wait $pid");
  CAPTURE(stopped.text);
  CHECK(stopped.code == 85);
  CHECK(stopped.times("Stopped by SIGUSR1, with a checkpoint") == 1);
}

TEST_CASE("watch follows a run through its folder, from start to end") {
  const Place place;
  const Outcome watched = during_a_run(place, "--set train.epochs=1000 > /dev/null",
                                       binary() + " watch run --interval 0.2; echo ended with $?; wait");
  CAPTURE(watched.text);
  CHECK((watched.says("run: begins") || watched.says("run: running: process ")));
  CHECK(watched.says("run: complete"));
  CHECK(watched.says("ended with 0"));
  CHECK(watched.says("1 rank x 1 thread on "));
  CHECK(watched.says("loss by epoch   * training   o validation"));

  const Place other;
  const Outcome cut = during_a_run(other, "--set train.epochs=1000000", "kill -TERM $pid; wait $pid");
  CHECK(cut.code == 85);
  const Outcome stopped = other.run("watch run");
  CAPTURE(stopped.text);
  CHECK(stopped.code == 1);
  CHECK(stopped.says("run: stopped; continue with: convoke train --resume run"));
  CHECK(stopped.says("checkpoint   checkpoints/epoch-"));
  CHECK(place.run("watch recipe.toml").says("error: recipe.toml: is not a run folder"));
}

TEST_CASE("evaluate gives the scores of training on any number of ranks") {
  const Place place;
  REQUIRE(place.train("run", std::string(kEnsemble), 2).code == 0);
  const std::string summary = bytes_of(place / "run/summary.json");
  std::smatch accuracy;
  REQUIRE(std::regex_search(summary, accuracy, std::regex("\"test\": \\{[^}]*\"accuracy\": ([0-9.]+)")));
  for (const int ranks : {1, 3}) {
    const Outcome json = place.run("evaluate run --json", mpirun(ranks));
    CAPTURE(ranks, json.text);
    CHECK(json.code == 0);
    CHECK(json.says("\"accuracy\":" + accuracy[1].str()));
    CHECK(json.times("\"rule\":\"majority\"") == 1);
  }
  const Outcome text = place.run("evaluate run/ensemble.h5 --data data.h5 --split train --rule mean");
  CHECK(text.code == 0);
  CHECK(text.says("ensemble of 3"));
  CHECK(text.says("150 images"));
  CHECK(text.says("mean vote"));

  fs::create_directory(place / "alone");
  fs::copy(place / "run/ensemble.h5", place / "alone/ensemble.h5");
  const Outcome where = place.run("evaluate alone/ensemble.h5");
  CHECK(where.code == 1);
  CHECK(where.says("--data FILE"));
  write_text(place / "junk.h5", "no model");
  CHECK(place.run("evaluate junk.h5").says("error: junk.h5"));
  CHECK(place.run("evaluate nothing.h5").says("error: nothing.h5"));
}

TEST_CASE("evaluate uses the test split of the run, unless another is named") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1 --set data.test_split=train").code == 0);
  const Outcome own = place.run("evaluate run --json");
  CAPTURE(own.text);
  CHECK(own.code == 0);
  CHECK(own.says("\"split\":\"train\""));
  CHECK(own.says("\"samples\":150"));
  CHECK(place.run("evaluate run --split test --json").says("\"samples\":60"));
}

namespace {

// Writes 60 pictures of 8 x 8 as h5py does, (N, H, W, C), and as MATLAB does: (H, W, N), with reversed axes.
void write_arrays(const Place& place, std::span<const float> values) {
  using convoke::hdf5::ElementType;
  convoke::hdf5::File h5py = convoke::hdf5::File::create(place / "arrays.h5");
  h5py.create_dataset("x_train", ElementType::kInt32, convoke::Shape{2, 8, 8, 1}, 0)
      .write(std::span<const std::int32_t>(std::vector<std::int32_t>(128)));
  h5py.create_dataset("x_test", ElementType::kFloat32, convoke::Shape{60, 8, 8, 1}, 5).write(values);
  h5py.close();
  std::vector<float> turned;  // (N, W, H)
  for (std::size_t n = 0; n < 60; ++n) {
    for (std::size_t x = 0; x < 8; ++x) {
      for (std::size_t y = 0; y < 8; ++y) turned.push_back(values[64 * n + 8 * y + x]);
    }
  }
  convoke::hdf5::File matlab = convoke::hdf5::File::create(place / "arrays.mat");
  auto images = matlab.create_dataset("images", ElementType::kFloat32, convoke::Shape{60, 8, 8}, 0);
  images.write(std::span<const float>(turned));
  images.set_attribute("MATLAB_class", "single");
  matlab.close();
}

}  // namespace

TEST_CASE("predict gives the same labels for a dataset, arrays and image files") {
  const Place place;
  REQUIRE(place.train("run").code == 0);
  const Pictures test(60, 8, 4, 2);
  const std::vector<float> values(test.samples.begin(), test.samples.end());
  convoke::data_prep::write_npy(place / "batch.npy", convoke::Shape{60, 8, 8, 1}, values);
  std::string images;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string name = "image-" + std::to_string(i) + ".bmp";
    write_text(place / name, gray_bmp(std::span(test.samples).subspan(64 * i, 64), 8));
    images += name + " ";
  }
  const auto columns = [](const std::string& csv,
                          std::size_t rows) {  // without the first two columns: input, index
    std::vector<std::string> result;
    std::istringstream lines(csv);
    std::string line;
    std::getline(lines, line);
    while (result.size() < rows && std::getline(lines, line)) {
      result.push_back(line.substr(line.find(',', line.find(',') + 1)));
    }
    return result;
  };
  REQUIRE(place.run("predict run data.h5 --output a.csv").code == 0);
  REQUIRE(place.run("predict run batch.npy --output b.csv", mpirun(3)).code == 0);
  write_arrays(place, values);
  REQUIRE(place.run("predict run arrays.h5 --output h.csv", mpirun(3)).code == 0);
  REQUIRE(place.run("predict run arrays.mat --output m.csv", mpirun(2)).code == 0);
  const Outcome pictures = place.run("predict run/model.h5 " + images, "2>/dev/null");
  CAPTURE(pictures.text);
  const std::string csv = bytes_of(place / "a.csv");
  CHECK(csv.find("input,index,label,class,p(0),p(1),p(2),p(3)\n") == 0);
  CHECK(columns(csv, 1000).size() == 60);
  for (const char* arrays : {"b.csv", "h.csv", "m.csv"}) {
    CAPTURE(arrays);
    CHECK(columns(bytes_of(place / arrays), 1000) == columns(csv, 1000));
  }
  CHECK(columns(pictures.text, 3) == columns(csv, 3));

  REQUIRE(place.run("predict run batch.npy --output b.npy").code == 0);
  const convoke::data_prep::NpyArray table = convoke::data_prep::read_npy(place / "b.npy");
  CHECK(table.shape == convoke::Shape{60, 5});
  const auto& rows = std::get<std::vector<float>>(table.values);
  for (std::size_t i = 0; i < 60; ++i) {
    CHECK(columns(csv, 60)[i].substr(1, 1) == std::to_string(static_cast<int>(rows[5 * i])));
    CHECK(rows[5 * i + 1] + rows[5 * i + 2] + rows[5 * i + 3] + rows[5 * i + 4] ==
          Catch::Approx(1).epsilon(1e-4));
  }

  convoke::data_prep::write_npy(place / "wrong.npy", convoke::Shape{60, 64}, values);
  const Outcome wrong = place.run("predict run wrong.npy");
  CHECK(wrong.code == 1);
  CHECK(wrong.says("wrong.npy: has shape (60, 64), but the model takes samples of shape (1, 8, 8)"));
  const Outcome of_train = place.run("predict run arrays.h5 --split train --layout nchw");
  CHECK(of_train.code == 1);
  CHECK(of_train.says("arrays.h5: has shape (2, 8, 8, 1), but with --layout nchw"));
  write_text(place / "old.mat", "MATLAB 5.0 MAT-file, Platform: GLNXA64" + std::string(200, ' '));
  CHECK(place.run("predict run old.mat").says("old.mat: is a MAT-file of version 5 to 7"));
  CHECK(place.run("predict run nothing.png").says("error: nothing.png"));
  CHECK(place.run("predict run batch.npy --output labels.txt").says(".csv or .npy"));
}

namespace {

/// Returns the values of a .npy file, as float32.
std::vector<float> values_of(const fs::path& file, const convoke::Shape& shape) {
  const convoke::data_prep::NpyArray array = convoke::data_prep::read_npy(file);
  CHECK(array.shape == shape);
  return std::get<std::vector<float>>(array.values);
}

void check_close(const std::vector<float>& found, const std::vector<float>& expected, double margin) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Catch::Approx(expected[i]).margin(margin));
}

}  // namespace

TEST_CASE("predict --raw writes the output of the last layer") {
  const Place place;
  REQUIRE(place.train("run", kEnsemble).code == 0);
  const Pictures test(60, 8, 4, 2);
  std::vector<float> inputs;
  for (const std::uint8_t value : test.samples) inputs.push_back(static_cast<float>(value) * (1.0F / 255.0F));
  convoke::data_prep::write_npy(place / "x.npy", convoke::Shape{60, 8, 8, 1}, inputs);
  convoke::data_prep::write_npy(place / "first.npy", convoke::Shape{60, 1, 8, 8}, inputs);

  // Floating-point input is used as it is, so it is normalized like the dataset. (M, N, K) for any number of
  // ranks.
  REQUIRE(place.run("predict run x.npy --raw --output y.npy", mpirun(2)).code == 0);
  const std::vector<float> rows = values_of(place / "y.npy", {3, 60, 4});
  REQUIRE(place.run("predict run data.h5 --raw --output dataset.npy").code == 0);
  check_close(values_of(place / "dataset.npy", {3, 60, 4}), rows, 1e-6);
  REQUIRE(place.run("predict run first.npy --raw --layout nchw --output first-y.npy").code == 0);
  check_close(values_of(place / "first-y.npy", {3, 60, 4}), rows, 1e-6);

  // The mean over the members equals the prediction without --raw.
  REQUIRE(place.run("predict run data.h5 --output labels.npy").code == 0);
  const std::vector<float> table = values_of(place / "labels.npy", {60, 5});
  for (std::size_t i = 0; i < 60; ++i) {
    for (std::size_t c = 0; c < 4; ++c) {
      const std::size_t at = 4 * i + c;
      CHECK((rows[at] + rows[at + 240] + rows[at + 480]) / 3 ==
            Catch::Approx(table[5 * i + 1 + c]).margin(1e-5));
    }
  }

  const Outcome layout = place.run("predict run x.npy --raw --layout nchw --output z.npy");
  CHECK(layout.code == 1);
  CHECK(
      layout.says("x.npy: has shape (60, 8, 8, 1), but with --layout nchw the model takes (60, 1, 8, 8)\n"));
  CHECK(layout.says("--layout nhwc or nchw"));
  CHECK(place.run("predict run x.npy --raw")
            .says("error: --raw writes an array, which needs a file\n  hint: add --output FILE.npy"));
  CHECK(place.run("predict run x.npy --raw --output y.npy --layout chwn").code == 2);
  CHECK(place.run("predict run x.npy --raw --rule mean --output y.npy").code == 2);
}

TEST_CASE(
    "predict --raw accepts and writes arrays of any shape; expected values are computed from the weights") {
  using convoke::Shape;
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder / name).string(); };
  const auto model = [](const Shape& input, const std::vector<convoke::Settings>& layers) {
    return convoke::run::ModelDescription{.graph = convoke::nn::build_graph(input, layers),
                                          .normalization = {std::vector<float>(2, 0.5F), {1, -1}},
                                          .class_names = {}};
  };
  // A 1 x 1 convolution, no softmax: y[k][p] = b[k] + sum over c of w[k][c] x[c][p]; (2, 3, 3) -> (3, 3, 3).
  const std::vector<float> weights{1, 2, -3, 0.5F, 0.25F, -1, /* bias */ 10, 20, 30};
  convoke::run::write_model(
      folder / "image.h5", model({2, 3, 3}, {{{"layer", "conv2d"}, {"filters", 3}, {"kernel", 1}}}), weights);
  std::vector<float> x(5 * 18);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 23) - 7.5F;
  // (N, H, W, C), and its normalized form with channels first.
  const auto expected = [&](float scale, std::vector<float> shift) {
    std::vector<float> y(5 * 27);
    for (std::size_t n = 0; n < 5; ++n) {
      for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t p = 0; p < 9; ++p) {
          float& value = y[27 * n + 9 * k + p] = weights[6 + k];
          for (std::size_t c = 0; c < 2; ++c) {
            value += weights[2 * k + c] * (x[18 * n + 2 * p + c] * scale + shift[c]);
          }
        }
      }
    }
    return y;
  };
  const auto predict = [&](const char* what, const std::string& more = "") {
    return shell(binary() + " predict " + file(what) + " " + file("x.npy") + " --raw --output " +
                 file("y.npy") + " " + more);
  };
  convoke::data_prep::write_npy(folder / "x.npy", Shape{5, 3, 3, 2}, x);
  const Outcome floats = predict("image.h5", "--layout nhwc");
  CAPTURE(floats.text);
  REQUIRE(floats.code == 0);
  check_close(values_of(folder / "y.npy", {5, 3, 3, 3}), expected(1, {0, 0}), 1e-4);
  // Integers are normalized.
  std::vector<std::int32_t> integers;
  for (float& value : x) integers.push_back(static_cast<std::int32_t>(value = std::trunc(value)));
  convoke::data_prep::write_npy(folder / "x.npy", Shape{5, 3, 3, 2}, integers);
  REQUIRE(predict("image.h5").code == 0);
  check_close(values_of(folder / "y.npy", {5, 3, 3, 3}), expected(0.5F, {1, -1}), 1e-4);

  // A vector as input and output: y = b + W x.
  convoke::run::write_model(folder / "vector.h5", model({2}, {{{"layer", "dense"}, {"units", 3}}}), weights);
  convoke::data_prep::write_npy(folder / "x.npy", Shape{2, 2}, std::vector<float>{1, 2, 3, 4});
  REQUIRE(predict("vector.h5").code == 0);
  check_close(values_of(folder / "y.npy", {2, 3}), {15, 18, 28.25F, 21, 13, 26.75F}, 1e-4);
  convoke::data_prep::write_npy(folder / "x.npy", Shape{2, 3}, std::vector<float>(6));
  CHECK(predict("vector.h5").says("x.npy: has shape (2, 3), but the model takes samples of shape (2)\n"));
  // Without --raw, the same batch are samples: features are in units of the stored ones.
  convoke::data_prep::write_npy(folder / "x.npy", Shape{2, 2}, std::vector<float>{1, 2, 3, 4});
  CHECK(shell(binary() + " predict " + file("vector.h5") + " " + file("x.npy")).code == 0);
}

TEST_CASE("a table is trained, evaluated and predicted, for any stored type") {
  const Place place;
  const std::int64_t features = 5;
  const auto rows = [&](std::int64_t count,
                        std::uint64_t seed) {  // the largest of the first 3 values is the class
    std::pair<std::vector<float>, std::vector<std::int32_t>> table;
    for (std::int64_t i = 0; i < count; ++i) {
      convoke::RandomStream random({seed, convoke::Purpose::kBench, 0, static_cast<std::uint64_t>(i)});
      table.second.push_back(static_cast<std::int32_t>(random.below(3)));
      for (std::int64_t f = 0; f < features; ++f) {
        table.first.push_back(1000.0F + static_cast<float>(random.below(100)) +
                              (f == table.second.back() ? 150.0F : 0.0F));
      }
    }
    return table;
  };
  convoke::data::DatasetInfo info;
  info.sample_type = convoke::data::SampleType::kFloat32;
  info.sample_shape = convoke::Shape{features};
  info.classes = 3;
  auto writer =
      convoke::data::DatasetWriter::create(place / "table.h5", info, {{"train", 150}, {"test", 60}});
  const auto [train, train_labels] = rows(150, 1);
  const auto [test, test_labels] = rows(60, 2);
  writer.write("train", 0, train, train_labels);
  writer.write("test", 0, test, test_labels);
  writer.finish();
  write_text(place / "table.toml", R"(name = "table"
[data]
path = "table.h5"
normalize = "standard"
[model]
input = [5]
layers = [
  { layer = "dense", units = 16, activation = "relu" },
  { layer = "dense", units = 3, activation = "softmax" },
]
[train]
epochs = 10
batch = 16
micro_batch = 8
reduction = "exact"
optimizer = { name = "adam", learning_rate = 0.02 }
[run]
threads = 1
)");
  REQUIRE(place.run("train table.toml --quiet --output run").code == 0);
  const Outcome two = place.run("train table.toml --quiet --output two", mpirun(2));
  CAPTURE(two.text);
  REQUIRE(two.code == 0);
  CHECK(bytes_of(place / "two/model.h5") == bytes_of(place / "run/model.h5"));
  const Outcome evaluated = place.run("evaluate run --json");
  std::smatch accuracy;
  REQUIRE(std::regex_search(evaluated.text, accuracy, std::regex("\"accuracy\":([0-9.]+)")));
  CHECK(std::stod(accuracy[1].str()) > 0.95);
  CHECK(place.run("evaluate run").says("60 samples"));

  convoke::data_prep::write_npy(place / "batch.npy", convoke::Shape{60, features}, test);
  REQUIRE(place.run("predict run table.h5 --output a.npy", mpirun(2)).code == 0);
  REQUIRE(place.run("predict run batch.npy --output b.npy").code == 0);
  const auto values_of = [&](const char* name) {  // the label and 3 probabilities of every row
    return std::get<std::vector<float>>(convoke::data_prep::read_npy(place / name).values);
  };
  const std::vector<float> from_dataset = values_of("a.npy");
  const std::vector<float> from_batch = values_of("b.npy");
  REQUIRE(from_dataset.size() == 60 * 4);
  REQUIRE(from_batch.size() == from_dataset.size());
  for (std::size_t i = 0; i < from_dataset.size(); ++i) {
    CHECK(from_batch[i] == Catch::Approx(from_dataset[i]).margin(1e-4));
  }

  // Images do not fit a model for tables.
  const Outcome image = place.run("predict run some.png");
  CHECK(image.code == 1);
  CHECK(image.says("some.png: expected to be a picture, but the model takes samples of shape (5)"));
  const Outcome narrow = place.run("train table.toml --set data.path=data.h5 --output none");
  CHECK(narrow.code == 1);
  CHECK(narrow.says("data.h5 has samples of shape (1, 8, 8), but the model of table takes (5)"));
  const Outcome unit = place.run("train table.toml --set data.normalize=unit --output none");
  CHECK(unit.code == 1);
  CHECK(unit.says("table.h5: normalization \"unit\" divides by 255"));
  CHECK(unit.says("hint: set data.normalize to \"standard\" or \"none\""));
  CHECK(place.run("bench table.toml --seconds 0.01 --rounds 1").code == 0);
}
