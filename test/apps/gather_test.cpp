// Members that were trained in separate jobs, gathered into the ensemble that one job would have trained.
#include <cmath>

#include "apps/place.hpp"
#include "support/catch.hpp"
#include "support/shell.hpp"

namespace {

constexpr const char* kMembers =
    " --set train.mode=ensemble --set ensemble.members=3 --set 'ensemble.soups=[\"uniform\",\"greedy\"]' ";

std::string member(int k) { return std::string(kMembers) + "--member " + std::to_string(k); }

// Trains three members, one of them on two ranks; returns their place.
struct Members : Place {
  Members() {
    for (int k = 0; k < 3; ++k) {
      train("m" + std::to_string(k), member(k), k == 1 ? 2 : 1)
          .ends(0)
          .shows("member " + std::to_string(k) + " of an ensemble of 3");
    }
  }
};

// Returns the text from "prefix_accuracy" on, which has every vote of every prefix, up to the time of the
// test.
std::string votes_of(const fs::path& run) {
  const std::string summary = bytes_of(run / "summary.json");
  const std::size_t from = summary.find("\"prefix_accuracy\"");
  const std::size_t to = summary.find("\"seconds\"", from);
  REQUIRE(from < to);
  REQUIRE(to != std::string::npos);
  return summary.substr(from, to - from);
}

}  // namespace

TEST_CASE("members gathered from separate jobs form the ensemble of one job, byte for byte") {
  const Members place;
  REQUIRE(place.train("joint", kMembers).code == 0);
  CHECK(fs::exists(place / "m2/checkpoints/member-002/epoch-0003.h5"));
  for (const int ranks : {1, 3}) {
    CAPTURE(ranks);
    const std::string output = "all-" + std::to_string(ranks);
    const Outcome outcome = place.run("gather m2 m0 m1 --output " + output, ranks).ends(0);
    outcome.shows("ensemble of 3 out of 3 runs").once("weighted avg");
    CHECK(bytes_of(place / (output + "/ensemble.h5")) == bytes_of(place / "joint/ensemble.h5"));
    CHECK(votes_of(place / output) == votes_of(place / "joint"));
    outcome.shows("uniform soup");
    for (const std::string soup : {"/soup-uniform.h5", "/soup-greedy.h5"}) {
      CHECK(bytes_of(place / (output + soup)) == bytes_of(place / ("joint" + soup)));
    }
  }
  // Four ranks of one thread each, as if at the same time; two of them may have shared a core.
  CHECK(summary_number(place / "all-1", "all_threads") == 4);
  CHECK(summary_number(place / "all-1", "cores") == 2 + summary_number(place / "m1", "cores"));
  double others = NAN;  // runs of less than a second do not measure it
  for (const char* run : {"m0", "m1", "m2"})
    others = std::fmax(others, summary_number(place / run, "other_programs"));
  const double stated = summary_number(place / "all-1", "other_programs");
  CHECK((stated == others || (std::isnan(stated) && std::isnan(others))));

  // The result is an ordinary run.
  CHECK(place.run("evaluate all-1 --json").code == 0);
  CHECK(place.run("evaluate all-1/soup-greedy.h5 --json").code == 0);
  CHECK_FALSE(fs::exists(place / "m0/soup-uniform.h5"));  // one member is no soup
  place.run("train --quiet --resume all-1").ends(1).shows("all-1 is finished").shows("gather them again");
  const Outcome compared = place.run("compare joint all-1").ends(0);
  CAPTURE(compared.text);
  CHECK(compared.times("ensemble of 3") >= 2);

  // An interrupted gather is done again, and nothing else is overwritten.
  write_file(place / "out/ensemble.h5.0123456789ab.tmp", "half of it");
  write_file(place / "out/metrics.jsonl", "{\"event\": \"evaluation\"}\n");
  REQUIRE(place.run("gather m0 m1 m2 --output out").code == 0);
  CHECK_FALSE(fs::exists(place / "out/ensemble.h5.0123456789ab.tmp"));
  CHECK(times(bytes_of(place / "out/metrics.jsonl"), "evaluation") == 1);
  place.run("gather m0 m1 m2 --output out").ends(1).shows("out: is not empty");
  CHECK(place.run("gather m0 m1 m2 --output m0").code == 1);
}

TEST_CASE("gather refuses runs that do not form an ensemble, and names the run and the reason") {
  const Members place;
  REQUIRE(place.train("sync").code == 0);
  place.replace("recipe.toml", "filters = 8", "filters = 4", "narrow.toml");
  REQUIRE(place.run("train narrow.toml --quiet --output narrow" + member(1)).code == 0);
  REQUIRE(place.train("seed", member(1) + " --set seed=9").code == 0);
  REQUIRE(place.train("clipped", member(1) + " --set train.clip_norm=0.5").code == 0);
  REQUIRE(place.train("short", member(1) + " --set train.epochs=2").code == 0);
  fs::copy(place / "m1", place / "unfinished", fs::copy_options::recursive);
  fs::remove(place / "unfinished/summary.json");
  write_dataset(place / "other.h5", 160);
  REQUIRE(place.train("samples", member(1) + " --set data.path=other.h5").code == 0);

  const auto refused = [&](const std::string& runs, const std::string& reason, const std::string& hint) {
    CAPTURE(runs);
    place.run("gather " + runs + " --output out").ends(1).shows(reason).shows(hint);
    CHECK_FALSE(fs::exists(place / "out"));
  };
  refused("m0 m2", "tiny has 3 members, but the runs lack member 1",
          "convoke train m0/recipe.toml --member 1");
  refused("m0 m1 m2 m1", "member 1 is in m1 and in m1", "once");
  refused("m0 narrow m2",
          "narrow and m0 cannot vote together: layer 1 has filters = 4 in one, 8 in the other", "one recipe");
  refused("m0 seed m2", "m0 and seed are members of different ensembles: seed: 3 in one, 9 in the other",
          "one recipe");
  refused("m0 short m2", "train.epochs: 3 in one, 2 in the other", "one recipe");
  for (const std::string runs : {"m0 clipped m2", "clipped m0 m2"})
    refused(runs, "train.clip_norm: ", "one recipe");
  refused("m0 samples m2", "samples was trained on other samples than m0", "one dataset");
  refused("m0 unfinished m2", "unfinished: this run is not finished", "convoke train --resume unfinished");
  refused("m0 sync", "train.mode: \"ensemble\" in one, \"sync\" in the other", "one recipe");
  refused("sync", "sync: holds one synchronous model", "--member K");
  refused("m0 nowhere m2", "nowhere: is not a run folder", "finished runs");
  fs::create_directory(place / "empty");
  for (const char* runs : {"empty", "m0 empty"}) {
    refused(runs, "empty: has no recipe.toml, so it is not a run folder", "finished runs");
  }

  for (const std::string key : {"axes", "kind"}) {
    write_dataset(place / (key + ".h5"), 150, 8, 4, 60, {}, "{\"" + key + "\":\"NHW\"}");
    REQUIRE(place.train(key, member(1) + " --set data.path=" + key + ".h5").code == 0);
  }
  refused("m0 kind m2", "kind and m0 cannot vote together: their samples were prepared differently", "");
  place.run("gather m0 axes m2 --output alike").ends(0);  // the same samples

  place.run("gather m0 unfinished m2 --partial --output two")
      .ends(0)
      .shows("warning: unfinished is not finished; the vote goes without it")
      .shows("ensemble of 2 out of 2 runs");
}

TEST_CASE("gathered members have the facts of their training") {
  const Place place;
  const std::string early =
      "--set train.mode=ensemble --set ensemble.members=2 --set train.epochs=40 "
      "--set 'train.early_stopping={ patience = 1, monitor = \"validation_accuracy\" }' ";
  REQUIRE(place.train("joint", early).code == 0);
  for (const std::string k : {"0", "1"}) REQUIRE(place.train("m" + k, early + "--member " + k).code == 0);
  REQUIRE(place.run("gather m0 m1 --output all").code == 0);
  const auto facts_of = [&](const std::string& run) {
    const convoke::Settings summary = convoke::metrics::read_json(place / (run + "/summary.json")).value();
    return convoke::list_at(summary, "member_facts");
  };
  CHECK(facts_of("all") == facts_of("joint"));
  CHECK_THAT(bytes_of(place / "joint/summary.json"), Contains("\"stopped_at_step\""));
}

TEST_CASE("train --member requires an ensemble of known size") {
  const Place place;
  place.train("a", "--member 0").ends(1).shows("trains one synchronous model");
  place.train("a", "--set train.mode=ensemble --member 0").ends(1).shows("--set ensemble.members=4");
  place.train("a", member(3)).ends(1).shows("there is no member 3 of 3");
  CHECK_FALSE(fs::exists(place / "a"));
}

TEST_CASE("a member of a separate job is resumed alone, and an ensemble with the same number of members") {
  const Place place;
  REQUIRE(place.train("m1", member(1) + " --set train.epochs=1").code == 0);
  place.run("train --quiet --resume m1 --set train.epochs=2").ends(0);
  CHECK(fs::exists(place / "m1/checkpoints/member-001"));
  CHECK_FALSE(fs::exists(place / "m1/checkpoints/member-000"));
  place.run("gather m1 --partial --output gathered")
      .ends(0)
      .shows("(a run was resumed: only its time since then counts)");
  CHECK_THAT(bytes_of(place / "gathered/summary.json"), Contains("\"resumed\": true"));

  REQUIRE(place.train("all", "--set train.mode=ensemble --set train.epochs=1", 2).code == 0);  // "ranks"
  CHECK(place.run("train --quiet --resume all --set train.epochs=2").code == 0);
  CHECK(fs::exists(place / "all/checkpoints/member-001/epoch-0002.h5"));

  // The recipe says "ranks", and there are fewer now; the second run has no checkpoint yet.
  fs::create_directories(place / "begun");
  fs::copy_file(place / "all/recipe.toml", place / "begun/recipe.toml");
  for (const std::string run : {"all", "begun"}) {
    place.train(run, "--resume --set train.mode=ensemble")
        .ends(0)
        .once("2 members, as when " + run + " began; ensemble.members = \"ranks\" is now 1");
    CHECK(fs::exists(place / (run + "/checkpoints/member-001/epoch-0003.h5")));
  }
}
