#include "convoke/study/running/study_file.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::study;

namespace {

StudyFile parse(const std::string& text) { return StudyFile::parse(text, "s.toml"); }
std::string refused(const std::string& text) {
  return error_of([&] { parse("recipe = \"a\"\n" + text); });
}

}  // namespace

TEST_CASE("a study names recipes and axes; the defaults are those of the thesis: ten runs, five percent") {
  const StudyFile study = parse("recipe = \"a\"");
  CHECK(study.name == "s");
  CHECK(study.recipes == std::vector<std::string>{"a"});
  CHECK(study.ranks == std::vector<std::int64_t>{1});
  CHECK(study.repeats == 10);
  CHECK(study.target == 0.05);
  CHECK(study.modes.empty());

  const StudyFile all = parse(R"(
recipe = ["a", "b"]
ranks = [1, 2, 4]
threads = 2
mode = ["sync", "ensemble", "4x2", "emulated ensemble", "emulated 4x2"]
columns = ["test.ece", "peak_rss_mib"]
fraction = [0.25, 0.5, 1]
batch = ["strong", "weak"]
repeats = 5
budget = "1.5 h"
[set]
train.epochs = 2
train.optimizer = { name = "sgd", learning_rate = 0.1 }
seed = 7
[axes]
train.precision = ["fp32", "bf16"]
train.micro_batch = [8, 16]
)");
  CHECK(all.threads == std::vector<std::int64_t>{2});
  CHECK(all.modes ==
        std::vector<Mode>{
            {"sync"}, {"ensemble"}, {"groups", 4, 2}, {"ensemble", 0, 0, true}, {"groups", 4, 2, true}});
  CHECK(all.columns == std::vector<std::string>{"test.ece", "peak_rss_mib"});
  CHECK(all.fractions == std::vector<double>{0.25, 0.5, 1});
  CHECK(all.budget_seconds == 5400);
  CHECK(all.at_most == 30);
  CHECK(all.set == std::vector<std::string>{"train.epochs=2", "train.optimizer.name=sgd",
                                            "train.optimizer.learning_rate=0.1", "seed=7"});
  REQUIRE(all.axes.size() == 2);
  CHECK(all.axes[0].key == "train.precision");
  CHECK(all.axes[0].values == std::vector<std::string>{"fp32", "bf16"});
  CHECK(all.axes[1].values == std::vector<std::string>{"8", "16"});

  const StudyFile again = StudyFile::parse(all.to_toml(), "again.toml");
  CHECK(again.to_toml() == all.to_toml());
  CHECK(again.set == all.set);
}

TEST_CASE("text that would be parsed as another type keeps its quotes") {
  const StudyFile study = parse("recipe = \"a\"\n[set]\nname = \"two words\"\ndescription = \"3\"\n");
  CHECK(study.set == std::vector<std::string>{"name=\"two words\"", "description=\"3\""});
}

TEST_CASE("an invalid study is refused with the line, and the nearest known name") {
  CHECK_THAT(error_of([] { parse("ranks = [1]"); }), Contains("\"recipe\" is missing"));
  CHECK_THAT(refused("rank = [1, 2]"), Contains("s.toml:2") && Contains("did you mean \"ranks\"?"));
  CHECK_THAT(refused("fractions = [1]"), Contains("did you mean \"fraction\"?"));
  CHECK_THAT(refused("mode = \"ensembel\""), Contains("did you mean \"ensemble\"?"));
  CHECK_THAT(refused("mode = \"emulated sync\""),
             Contains("only members of an ensemble can train one after another"));
  CHECK_THAT(refused("mode = \"emulated ensembel\""), Contains("did you mean \"ensemble\"?"));
  CHECK_THAT(refused("mode = \"4x2 as if\""),
             Contains("s.toml:2") && Contains("\"4x2 as if\" is now \"emulated 4x2\""));
  CHECK_THAT(refused("columns = [\"test.ece\", \"test.ece\"]"), Contains("without repeated values"));
  CHECK_THAT(refused("columns = [\"a,b\"]"), Contains("names of summary.json"));
  CHECK_THAT(refused("mode = \"0x2\""), Contains("unknown mode \"0x2\""));
  CHECK_THAT(refused("batch = \"week\""), Contains("did you mean \"weak\"?"));
  CHECK_THAT(refused("ranks = [1, 0]"), Contains("whole numbers from 1 on"));
  CHECK_THAT(refused("ranks = []"), Contains("at least one value"));
  CHECK_THAT(refused("ranks = [2, 2]"), Contains("without repeated values"));
  CHECK_THAT(refused("fraction = [0.5, 1.5]"), Contains("above 0 and at most 1"));
  CHECK_THAT(refused("repeats = 0"), Contains("s.toml:2") && Contains("at least 1"));
  CHECK_THAT(refused("repeats = 5\nat_most = 4"), Contains("s.toml:3") && Contains("at least repeats, 5"));
  CHECK_THAT(refused("at_most = 100_000_000_000"), Contains("and at most 1000000"));
  for (const std::string key : {"budget", "contended_above"})
    CHECK_THAT(refused(key + " = inf"), Contains("\"" + key + "\" must be a"));
  CHECK_THAT(refused("target = 5"), Contains("above 0 and below 1"));
  CHECK_THAT(refused("budget = \"two hours\""), Contains("s.toml:2") && Contains("is not a time"));
  CHECK_THAT(refused("[set]\ndata.fraction = 0.5"), Contains("s.toml:3") && Contains("its own axis"));
  CHECK_THAT(refused("[axes]\ntrain.mode = [\"sync\"]"), Contains("its own axis"));
  CHECK_THAT(refused("[axes]\ntrain.micro_batch = 8"),
             Contains("s.toml:3") && Contains("must be a list of values, but is 8"));
  CHECK_THAT(refused("[axes]\nseed = [1, 2]"),
             Contains("s.toml:3") && Contains("every repeat already has its own seed"));
  CHECK(parse("recipe = \"a\"\nnew_seeds = false\n[axes]\nseed = [1, 2]\n").axes.size() == 1);
  CHECK_THAT(error_of([] { StudyFile::load("nowhere.toml"); }), Contains("cannot read nowhere.toml"));
}
