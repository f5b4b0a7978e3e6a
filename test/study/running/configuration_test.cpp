#include "convoke/study/running/configuration.hpp"

#include "convoke/core/text.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "tiny_recipe.hpp"

using namespace convoke;
using namespace convoke::study;

namespace {

struct Place : TinyStudies {
  std::vector<std::string> names(const std::string& more) const {
    std::vector<std::string> all;
    for (const Configuration& configuration : planned_configurations(parse(more)))
      all.push_back(configuration.name);
    return all;
  }
};

bool has(const Configuration& configuration, const std::string& change) {
  return std::find(configuration.changes.begin(), configuration.changes.end(), change) !=
         configuration.changes.end();
}

}  // namespace

TEST_CASE("configurations are the product of the axes, with the recipe's values for missing axes") {
  const Place place;
  CHECK(place.names("") == std::vector<std::string>{"tiny-sync-1x1"});
  CHECK(
      place.names("ranks = [1, 2]\nfraction = [0.5, 1]") ==
      std::vector<std::string>{"tiny-sync-1x1-p0.5", "tiny-sync-2x1-p0.5", "tiny-sync-1x1", "tiny-sync-2x1"});
  const std::vector<std::string> all = place.names(R"(
ranks = [1, 2]
threads = [1, 2]
mode = ["sync", "ensemble", "2x1", "2x2"]
batch = ["strong", "weak"]
[axes]
train.micro_batch = [8, 4]
)");
  // Groups determine their ranks: they have no axis of ranks.
  CHECK(all.size() == 2 * (2 * 2 + 2) * 2 * 2);
  CHECK(std::set(all.begin(), all.end()).size() == all.size());
}

TEST_CASE("a configuration is a recipe with changes") {
  const Place place;
  const auto configurations = planned_configurations(place.parse(
      "ranks = [2]\nthreads = [2]\nmode = [\"ensemble\", \"2x2\"]\nfraction = [0.5]\n[set]\nseed = 5\n"));
  REQUIRE(configurations.size() == 2);
  CHECK(configurations[0].at == Coordinates{"tiny", "ensemble", 2, 2, 0.5, "strong", ""});
  CHECK(configurations[0].seed == 5);
  for (const char* change : {"seed=5", "run.threads=2", "train.mode=ensemble", "data.fraction=0.5"}) {
    CHECK(has(configurations[0], change));
  }
  CHECK(configurations[1].at == Coordinates{"tiny", "groups", 4, 2, 0.5, "strong", "ensemble.members=2"});
  CHECK(has(configurations[1], "ensemble.members=2"));
}

TEST_CASE("a weak batch grows with the ranks that share it, and its micro-batches do not change") {
  const Place place;
  const auto weak = planned_configurations(
      place.parse("ranks = [1, 3]\nmode = [\"sync\", \"2x3\", \"3x1\"]\nbatch = \"weak\""));
  REQUIRE(weak.size() == 4);
  CHECK(has(weak[0], "train.batch=32"));
  CHECK(has(weak[1], "train.batch=96"));
  CHECK(has(weak[1], "train.micro_batch=8"));
  CHECK(has(weak[2], "train.batch=96"));  // two members, of three ranks each
  CHECK(has(weak[3], "train.batch=32"));
  // A micro-batch of "auto" would be a 64th of the larger batch.
  const auto automatic = planned_configurations(
      place.parse("ranks = [2]\nbatch = \"weak\"\n[set]\ntrain.batch = 1024\ntrain.micro_batch = \"auto\""));
  CHECK(has(automatic[0], "train.micro_batch=16"));
  CHECK(has(automatic[0], "train.batch=2048"));
}

TEST_CASE("repeats train with different seeds, or with the same seed") {
  const Place place;
  const StudyFile each = place.parse("[set]\nseed = 5");
  const StudyFile same = place.parse("new_seeds = false\n[set]\nseed = 5");
  const Configuration configuration = planned_configurations(each).front();
  CHECK(configuration.changes_of(each, 1) == configuration.changes);
  CHECK(configuration.changes_of(each, 4).back() == "seed=8");
  CHECK(configuration.changes_of(same, 4) == configuration.changes);
}

TEST_CASE("configurations that cannot run are reported before the first run") {
  const Place place;
  CHECK(planned_configurations(place.parse("ranks = [4]")).size() == 1);
  const std::string refused =
      error_of([&] { planned_configurations(place.parse("ranks = [1, 5, 6]\nmode = [\"sync\", \"2x5\"]")); });
  CHECK_THAT(refused, Contains("3 of 4 configurations cannot run"));
  CHECK_THAT(
      refused,
      Contains(
          "tiny-sync-5x1: 5 ranks, but a step of 32 samples has 4 micro-batches of 8: 1 would have no work"));
  CHECK_THAT(refused, Contains("5 ranks for a member"));
  CHECK(place.names("ranks = [1, 5, 6]\nleave_out = true") == std::vector<std::string>{"tiny-sync-1x1"});
  CHECK(obstacles(place.parse("ranks = [1, 5, 6]")).size() == 2);
  CHECK_THAT(error_of([&] { planned_configurations(place.parse("ranks = [5]\nleave_out = true")); }),
             Contains("1 of 1 configurations"));

  CHECK_THAT(
      error_of([&] { planned_configurations(place.parse("[set]\ntrain.micro_batches = 8")); }),
      StartsWith("study \"s\", [set] train.micro_batches=8: ") && Contains("did you mean \"micro_batch\"?"));
  CHECK_THAT(error_of([&] { planned_configurations(place.parse("[axes]\ntrain.epoch = [1, 2]")); }),
             StartsWith("study \"s\", [axes] train.epoch=1: ") && Contains("did you mean \"epochs\"?"));
  CHECK_THAT(error_of([&] { planned_configurations(place.parse("[axes]\ntrain.micro_batch = [8, 8]")); }),
             Contains("two configurations of the study are equal"));
  std::ofstream(place.folder / "other.toml") << "name = \"tiny\"\n" << kTinyRecipe;
  const StudyFile two =
      StudyFile::parse("recipe = [\"tiny.toml\", \"other.toml\"]", (place.folder / "s.toml").string());
  CHECK_THAT(error_of([&] { planned_configurations(two); }), Contains("have the same name, \"tiny\""));
}

TEST_CASE(
    "an emulated configuration runs one member at a time, and is not a repeat of the configuration whose "
    "members run together") {
  const Place place;
  const auto configurations = planned_configurations(
      place.parse("ranks = [6]\nmode = [\"ensemble\", \"emulated ensemble\", \"emulated 2x3\"]\n[set]\n"
                  "train.micro_batch = 4"));
  REQUIRE(configurations.size() == 3);
  CHECK(configurations[0].ranks_at_once() == 6);
  CHECK(configurations[1].name == "tiny-ensemble-6x1-emulated");
  CHECK(configurations[1].members == 6);
  CHECK(configurations[1].ranks_at_once() == 1);
  CHECK(configurations[2].ranks_at_once() == 3);
  Measurement run;
  run.system = "tiny", run.mode = "ensemble", run.ranks = 6, run.batch = "strong";
  CHECK(find_configuration(configurations, run) == 0);
  run.marks = {"emulated"};
  CHECK(find_configuration(configurations, run) == 1);
  CHECK_THAT(
      error_of([&] {
        planned_configurations(
            place.parse("ranks = [3]\nmode = \"emulated ensemble\"\n[set]\nensemble.members = 2"));
      }),
      Contains("an emulated ensemble needs as many ranks for each member, but 2 members have 3 ranks"));
}

TEST_CASE("each round has a different order of the configurations") {
  const auto first = order_of_round(50, 1, 1);
  CHECK(std::set(first.begin(), first.end()).size() == 50);
  CHECK(first == order_of_round(50, 1, 1));
  CHECK(first != order_of_round(50, 1, 2));
  CHECK(first != order_of_round(50, 2, 1));
}
