// Runs that end before their last epoch, by a signal, by the end of the job or by a full disk, and runs that
// continue.
#include "apps/place.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/full_disk.hpp"
#include "support/shell.hpp"
#include "support/variable.hpp"

TEST_CASE("a resumed run ends like an uninterrupted run, also on other ranks") {
  const Place place;
  REQUIRE(place.train("whole").code == 0);
  REQUIRE(place.train("run", "--set train.epochs=1", 2).code == 0);
  fs::remove(place / "run/model.h5");
  place.train("run", "--resume", 3).ends(0);
  CHECK(bytes_of(place / "run/model.h5") == bytes_of(place / "whole/model.h5"));
}

TEST_CASE("a damaged checkpoint is reported, and the one before it is used") {
  const Place place;
  REQUIRE(place.train("whole").code == 0);
  REQUIRE(place.train("run", "--set train.epochs=2").code == 0);
  fs::resize_file(place / "run/checkpoints/epoch-0002.h5",
                  fs::file_size(place / "run/checkpoints/epoch-0002.h5") / 2);
  place.run("train recipe.toml --output run --resume", mpirun(2))
      .ends(0)
      .once("checkpoint skipped: run/checkpoints/epoch-0002.h5")
      .shows("resumed after 1 epoch");
  CHECK(bytes_of(place / "run/model.h5") == bytes_of(place / "whole/model.h5"));

  place.train("run", "--resume --set train.batch=16", 2).fails("train.batch: 32 in the checkpoint, 16 now");
}

TEST_CASE("a resumed run accepts and stores changes that do not affect its result, and refuses others") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  const auto go_on = [&](const std::string& more) { return place.run("train --quiet --resume run " + more); };
  go_on("--set train.batch=16")
      .ends(1)
      .shows("its resume fingerprint differs (train.batch: 32 in the checkpoint, 16 now)")
      .shows("--set model.weights=RUN starts from its model");
  CHECK(place.run("train recipe.toml --quiet --output next --set train.batch=16 --set model.weights=run")
            .code == 0);
  place.run("train recipe.toml --set model.weights=none").ends(1).shows("model.weights: none: no such file");
  place.run("train recipe.toml --set train.distill.teacher=none")
      .ends(1)
      .shows("train.distill.teacher: " + (fs::canonical(place / ".") / "none").string() + ": no such file");
  go_on("--set train.epochs=2 --set run.threads=2").ends(0);
  CHECK_THAT(bytes_of(place / "run/recipe.toml"), Contains("epochs = 2\n"));
  go_on("--set train.epochs=1")
      .ends(0)
      .once("note: run has already trained 2 epochs, so train.epochs = 1 has no effect");
  CHECK_THAT(bytes_of(place / "run/recipe.toml"), Contains("epochs = 2\n"));
  CHECK_THAT(bytes_of(place / "run/summary.json"), Contains("\"epochs\": 2,"));

  CHECK(go_on("recipe.toml").says("uses the recipe that is stored in the run, but recipe.toml is given too"));
  CHECK(go_on("--output elsewhere").says("remove --output"));
  CHECK_FALSE(fs::exists(place / "elsewhere"));
  CHECK(place.run("train --resume nowhere").says("nowhere: has no recipe.toml"));
  CHECK(place.run("train --resume").says("--resume RUN, or --output RUN --resume"));
  CHECK(place.run("train --output x").says("RECIPE is required"));
}

TEST_CASE("a finished run keeps its cost when it is resumed; a run that goes on says that it was resumed") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1", 2).code == 0);
  const auto cost = [&] {
    std::vector<double> numbers;
    for (const char* key : {"makespan_seconds", "core_seconds", "images_per_second", "phases.steps.max",
                            "ranks", "test.seconds"})
      numbers.push_back(summary_number(place / "run", key));
    return numbers;
  };
  const std::vector<double> whole = cost();
  const std::string before = bytes_of(place / "run/summary.json");
  REQUIRE(place.run("train --quiet --resume run").code == 0);
  CHECK(cost() == whole);
  CHECK_THAT(bytes_of(place / "run/summary.json"), !Contains("\"resumed\""));

  place.run("train --quiet --resume run --set train.epochs=2").ends(0).shows(" s since the run was resumed");
  const std::vector<double> last = cost();
  CHECK(last != whole);
  REQUIRE(place.run("train --quiet --resume run", 2).code == 0);
  CHECK(cost() == last);
  CHECK_THAT(bytes_of(place / "run/summary.json"), Contains("\"resumed\": true"));

  // A session that was killed after its last checkpoint has left the summary of the first epoch.
  write_file(place / "run/summary.json", before);
  REQUIRE(place.run("train --quiet --resume run").code == 0);
  CHECK_THAT(bytes_of(place / "run/summary.json"), Contains("\"resumed\": true"));
  CHECK(times(bytes_of(place / "run/metrics.jsonl"), R"("event":"evaluation")") == 1);
}

TEST_CASE("a finished run that trains on is unfinished until it ends again") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  place
      .commands("{ " + binary() +
                " train --quiet --resume run --set train.epochs=1000000 & pid=$!; while kill -0 $pid && [ -e "
                "run/checkpoints/epoch-0001.h5 ]; do sleep 0.05; done; kill -USR1 $pid; wait $pid; }")
      .ends(85);
  CHECK_FALSE(fs::exists(place / "run/summary.json"));
  place.run("watch run")
      .ends(1)
      .shows("run: stopped; unless supervise or a queue does, continue with: convoke train --resume run");
  place.run("gather run --output votes").fails("run: this run is not finished");
  place.run("train --quiet --resume run --set train.epochs=1").ends(0);
  CHECK(place.run("watch run").says("run: complete"));
  write_file(place / "run/summary.json", "{");
  place.run("train --resume run").ends(0).shows("run/summary.json: not valid JSON: ").never("json.exception");
  CHECK(place.run("watch run").says("run: complete"));
}

TEST_CASE("a finished run is not trained again in another mode or without its checkpoints") {
  const Place place;
  const std::string ensemble = "--set train.mode=ensemble --set ensemble.members=2 ";
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  REQUIRE(place.train("votes", ensemble + "--set train.epochs=1").code == 0);
  const auto refused = [&](const std::string& run, const std::string& more, const std::string& why) {
    const std::vector<std::string> files{"recipe.toml", "metrics.jsonl", "summary.json"};
    std::vector<std::string> before;
    for (const std::string& file : files) before.push_back(bytes_of(place / (run + "/" + file)));
    place.run("train --quiet --resume " + run + " " + more).ends(1).shows(why);
    for (std::size_t i = 0; i < 3; ++i) CHECK(bytes_of(place / (run + "/" + files[i])) == before[i]);
  };
  refused("run", ensemble, "train.mode: \"sync\" in the checkpoint, \"ensemble\" now");
  refused("votes", "--set train.mode=sync", "train.mode: \"ensemble\" in the checkpoint, \"sync\" now");
  fs::remove_all(place / "run/checkpoints");
  refused("run", "", "run is finished, but has no checkpoints, so it would be trained again");

  // A run that was killed before its first checkpoint has no results, and begins again.
  for (const char* result : {"run/summary.json", "run/model.h5"}) fs::remove(place / result);
  place.run("train --quiet --resume run").ends(0).once("no checkpoint is found");
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
    write_file(place / (run + "/recipe.toml"),
               stored.substr(0, at) + "micro_batch = \"auto\"\n" + stored.substr(at + chosen.size()));
    place.run("train --quiet --set train.epochs=2 --resume " + run, mpirun(2))
        .ends(0)
        .once("micro-batches of 16 samples, as in the checkpoints of " + run +
              "; train.micro_batch = \"auto\" is now 8");
  }
  CHECK(bytes_of(place / "sync/model.h5") == bytes_of(place / "straight/model.h5"));
  // A folder without checkpoints begins with the micro-batch of today.
  CHECK(place.run("train recipe.toml --quiet --output new --resume --set train.micro_batch=auto").code == 0);
}

TEST_CASE("a signal ends a run at a checkpoint with exit code 85, and it can be resumed") {
  const Place place;
  place
      .commands(
          "{ " + mpirun(2) + " " + binary() +
          " train recipe.toml --quiet --output run --set train.epochs=1000000 & job=$!; "
          "until ls run/checkpoints/epoch-*.h5 > files 2> /dev/null; do sleep 0.05; done; kill -USR1 $job; "
          "wait $job; }")
      .ends(85)
      .once("Stopped by SIGUSR1, with a checkpoint; continue with: convoke train --resume run\n");
  CHECK_FALSE(fs::is_empty(place / "run/checkpoints"));
  CHECK_FALSE(fs::exists(place / "run/summary.json"));
  place.train("run", "--resume").ends(0);
  CHECK(fs::exists(place / "run/summary.json"));
}

TEST_CASE("the command that a stopped run prints continues with all its settings, to the same bits") {
  const Place place;
  const std::string changes = "--set train.epochs=100 --set train.optimizer.beta_1=0.8 --quiet ";
  REQUIRE(place.run("train recipe.toml --output whole " + changes).code == 0);
  const Outcome stopped =
      place
          .commands("{ " + binary() + " train recipe.toml --output run " + changes +
                    " & job=$!; until ls run/checkpoints/epoch-*.h5 > files 2> /dev/null; do sleep 0.05; "
                    "done; kill -TERM $job; wait $job; }")
          .ends(85);
  const std::string before = "continue with: convoke ";
  const std::size_t line = stopped.text.find(before) + before.size();
  place.run(stopped.text.substr(line, stopped.text.find('\n', line) - line)).ends(0);
  CHECK_THAT(bytes_of(place / "run/summary.json"), Contains("\"epochs\": 100"));
  CHECK(bytes_of(place / "run/model.h5") == bytes_of(place / "whole/model.h5"));
}

TEST_CASE("a signal to one rank of an ensemble stops all members, also of several on one rank") {
  const Place place;
  const auto signalled = [&](const std::string& output, const std::string& more, const std::string& begun,
                             int rank) {
    // Each rank writes its process number before it becomes convoke.
    return place.commands(
        "{ " + mpirun(3) + " sh -c 'echo $$ > pid.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec \"$0\" \"$@\"' " +
        binary() + " train recipe.toml --quiet --output " + output + " --set train.mode=ensemble " + more +
        " & job=$!; until [ -s " + output + "/checkpoints/" + begun +
        " ]; do sleep 0.05; done; kill -USR1 $(cat pid." + std::to_string(rank) + "); wait $job; }");
  };
  const std::string endless = "--set train.epochs=1000000 --set ensemble.members=";
  signalled("run", endless + "3", "member-002", 2)
      .ends(85)
      .once("Stopped by SIGUSR1, with a checkpoint; continue with: ");
  for (const char* member : {"member-000", "member-001", "member-002"}) {
    CHECK_FALSE(fs::is_empty(place / ("run/checkpoints/" + std::string(member))));
  }
  CHECK(place.train("run", "--resume --set train.mode=ensemble --set ensemble.members=3", 2).code == 0);

  // Rank 0 trains the last of four alone, for half a second or more; the other ranks wait.
  signalled("turns", "--set train.epochs=250 --set run.checkpoint_every=0 --set ensemble.members=4",
            "member-003", 1)
      .ends(85);
  CHECK_FALSE(fs::exists(place / "turns/ensemble.h5"));
}

TEST_CASE("many signals in quick succession stop a run with a checkpoint, and do not kill it") {
  const Place place;
  during_a_run(place, "--set train.epochs=1000000",
               "while kill -USR1 $pid 2> /dev/null; do sleep 0.002; done; wait $pid")
      .ends(85)
      .once("Stopped by SIGUSR1, with a checkpoint");
}

TEST_CASE("a dataset that is replaced while a run trains ends the run, which continues when it is back") {
  const Place place;
  write_dataset(place / "other.h5", 120);
  during_a_run(place, "--set train.epochs=500", "mv data.h5 kept.h5; mv other.h5 data.h5; wait $pid")
      .fails("data.h5: was replaced by another dataset while the job trained");
  fs::rename(place / "kept.h5", place / "data.h5");
  place.run("train --quiet --resume run").ends(0);
}

namespace {

// Before the program: ranks in a Slurm job that ends in `left` ("0:04"). The path is set behind mpirun, which
// puts its own folder first, where a real squeue may be.
std::string in_job(const Place& place, int ranks, const std::string& left) {
  write_script(place / "squeue", "echo " + left + "\n");
  return mpirun(ranks) + " env SLURM_JOB_ID=7 PATH=.:$PATH";
}

/// During its lifetime, started programs fail to rename the files named by fail_next_rename_to().
struct FailingRenames {
  Variable preload{"LD_PRELOAD", CONVOKE_FAILING_RENAME};
  Variable sanitizer{"ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0"};
};

}  // namespace

TEST_CASE("a run stops with a checkpoint before its job ends, and asks to be requeued") {
  const Place place;
  place
      .run("train recipe.toml --quiet --output run --set run.stop_before=2s --set train.epochs=1000000",
           in_job(place, 2, "0:04"))
      .ends(85)
      .once("Stopped by the end of the job's time, with a checkpoint; continue with: ");
  CHECK(place.run("train recipe.toml --quiet --output run --resume auto", in_job(place, 3, "0:04")).code ==
        0);

  place
      .run("train recipe.toml --quiet --output late --set run.stop_before='\"1 min\"'",
           in_job(place, 2, "0:04"))
      .fails("error: this job ends in 4 s, but run.stop_before reserves the last 60 s");
}

TEST_CASE("a run that cannot write its last checkpoint ends with an error, and is not requeued") {
  const Place place;
  during_a_run(place, "--set run.checkpoint_every=0 --set run.keep_best=false --set train.epochs=1000000",
               "rmdir run/checkpoints; : > run/checkpoints; kill -USR1 $pid; wait $pid")
      .ends(1)
      .shows("error: run/checkpoints/epoch-")
      .shows("cannot be written")
      .shows("hint: free some disk space; earlier checkpoints in run/checkpoints are unchanged")
      .never("Stopped by");
}

TEST_CASE(
    "a full disk while a checkpoint is written is reported, training goes on, and the earlier one stays") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  fail_next_rename_to(place / "run/checkpoints/epoch-0002.h5");
  const FailingRenames preloaded;
  place.train("run", "--resume --set train.epochs=3", 2)
      .ends(0)
      .once("run/checkpoints/epoch-0002.h5: cannot be written")
      .shows("No space left on device; training goes on, earlier checkpoints are unchanged")
      .shows("1 left out");
  CHECK_FALSE(fs::exists(place / "run/checkpoints/epoch-0002.h5"));
  CHECK(fs::exists(place / "run/checkpoints/epoch-0001.h5"));
  CHECK(fs::exists(place / "run/checkpoints/epoch-0003.h5"));
}

TEST_CASE("a full disk while best.h5 is written is reported; the old file stays until there is space") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  const std::string before = bytes_of(place / "run/checkpoints/best.h5");
  REQUIRE(before.size() > 1000);
  fail_next_rename_to(place / "run/checkpoints/best.h5");
  const FailingRenames preloaded;
  const Outcome outcome = place.train("run", "--resume", 2);  // the second epoch is better
  CAPTURE(outcome.text);
  CHECK(outcome.code == 0);
  CHECK(outcome.times("run/checkpoints/best.h5: cannot be written") == 1);
  CHECK(outcome.says("No space left on device; training goes on"));
  CHECK(bytes_of(place / "run/checkpoints/best.h5") != before);  // written as soon as there was space again
  REQUIRE(place.train("whole").code == 0);
  CHECK(bytes_of(place / "run/model.h5") == bytes_of(place / "whole/model.h5"));
}

TEST_CASE("checkpoints by steps and by time, with the requested number, and best models") {
  const Place place;
  const Outcome outcome = place
                              .train("run",
                                     "--set run.checkpoint_every='\"3 steps\"' --set run.keep_checkpoints=4 "
                                     "--set run.keep_best=2 --set train.epochs=8")
                              .ends(0);
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
  outcome.shows("training waited at most");

  const Outcome timed = place.train("timed", "--set run.checkpoint_every='\"0.001 s\"'").ends(0);
  CHECK(fs::exists(place / "timed/checkpoints/epoch-0003.h5"));
  REQUIRE(place.train("plain").code == 0);
  CHECK(bytes_of(place / "timed/model.h5") == bytes_of(place / "plain/model.h5"));
}
