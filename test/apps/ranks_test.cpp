// One model on any number of ranks and threads, byte for byte: the program gives what test/engine and
// test/train prove of its parts.
#include "apps/place.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/shell.hpp"

TEST_CASE("an exact run gives the same model.h5, byte for byte, on 1 to 4 ranks and 1 or 2 threads") {
  const Place place;
  REQUIRE(place.train("expected").code == 0);
  const std::string expected = bytes_of(place / "expected/model.h5");
  REQUIRE(expected.size() > 1000);
  for (const auto& [ranks, threads] : {std::pair(1, 2), {2, 1}, {3, 2}, {4, 1}}) {
    CAPTURE(ranks, threads);
    const std::string output = "run-" + std::to_string(ranks);
    place.train(output, "--set run.threads=" + std::to_string(threads), ranks).ends(0);
    CHECK(bytes_of(place / (output + "/model.h5")) == expected);
  }
  REQUIRE(place.train("other", "--set seed=4").code == 0);
  CHECK(bytes_of(place / "other/model.h5") != expected);
}

TEST_CASE("with a copy of the model in each NUMA node, model.h5 is that of one copy") {
  // Two NUMA nodes of two cores each are pretended.
  const Place place;
  const auto train = [&](const std::string& output, int ranks, const std::string& more) {
    return place.run("train recipe.toml --output " + output + " --set run.share_memory=" + more,
                     "CONVOKE_TOPOLOGY='pack:2 numa:1 core:2 pu:1' " + mpirun(ranks));
  };
  REQUIRE(place.train("expected").code == 0);
  for (const int ranks : {3, 4}) {
    const std::string output = "numa-" + std::to_string(ranks);
    train(output, ranks, "numa")
        .ends(0)
        .shows(std::to_string(ranks) + " ranks share 2 copies of the model, one for each NUMA node");
    CHECK(bytes_of(place / (output + "/model.h5")) == bytes_of(place / "expected/model.h5"));
  }
  // Floats are added in the same order on two ranks.
  const std::string fast = " --set train.reduction=fast";
  CHECK(train("fast-host", 2, "host" + fast).code == 0);
  CHECK(train("fast-numa", 2, "numa" + fast).says("2 ranks share 2 copies of the model"));
  CHECK(bytes_of(place / "fast-numa/model.h5") == bytes_of(place / "fast-host/model.h5"));
  CHECK(
      place.train("alone", "--set run.share_memory=numa").says("run.share_memory = \"numa\" has no effect"));
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
  CHECK_THAT(bytes_of(place / "half-1/summary.json"), Contains("\"training_samples\": 60"));
  const std::string members = bytes_of(place / "half-1-e/summary.json");
  CHECK_THAT(members, Contains("\"training_samples\": 20"));
}

TEST_CASE("an exact ensemble gives the same ensemble.h5 on one rank, one rank per member, and in groups") {
  const Place place;
  std::string expected;
  for (const int ranks : {1, 2, 3, 5}) {
    CAPTURE(ranks);
    const std::string output = "run-" + std::to_string(ranks);
    place.train(output, kEnsemble, ranks).ends(0).shows("ensemble of 3").once("weighted avg");
    if (expected.empty()) expected = bytes_of(place / (output + "/ensemble.h5"));
    CHECK(bytes_of(place / (output + "/ensemble.h5")) == expected);
    CHECK_FALSE(fs::exists(place / (output + "/model.h5")));
  }
}

TEST_CASE("more ranks than samples or micro-batches") {
  const Place place(5);
  const std::string no_validation = "--set data.validation_split=0";
  REQUIRE(place.train("one", no_validation).code == 0);
  place.train("many", no_validation + " --set run.threads=2", 7).ends(0).shows(" stay idle");
  CHECK(bytes_of(place / "many/model.h5") == bytes_of(place / "one/model.h5"));
  place.train("ensemble", no_validation + " --set train.mode=ensemble", 7).fails("error: ").shows("hint: ");
}

TEST_CASE("threads that share a core cost one core, and the run reports it") {
  const Place place;
  place.run("train recipe.toml --set train.epochs=1 --set run.threads=3 --output run", "taskset -c 0")
      .ends(0)
      .shows("(OVERSUBSCRIBED: 3 threads on 1 core)");
  const auto number = [&](std::string_view path) { return summary_number(place / "run", path); };
  CHECK(number("all_threads") == 3);
  CHECK(number("cores") == 1);
  CHECK(number("core_seconds") == Approx(number("makespan_seconds")));
}
