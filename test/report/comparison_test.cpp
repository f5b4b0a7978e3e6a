#include "convoke/report/comparison.hpp"

#include "example_pages.hpp"
#include "example_runs.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using namespace convoke;
using report::RunResult;

namespace {

/// A run on two cores, tested on 10,000 samples: at 90 % accuracy the standard error is 0.3 points.
RunResult run(const std::string& name, bool ensemble, double accuracy, double core_seconds) {
  RunResult result;
  result.name = name;
  result.ensemble = ensemble;
  result.members = ensemble ? 2 : 1;
  result.ranks = 2, result.threads = 1, result.samples = 10000;
  result.workers = {.threads = 2, .cores = 2};
  result.accuracy = accuracy;
  result.core_seconds = core_seconds;
  result.makespan = core_seconds / 2;
  return result;
}

std::string only_verdict(const RunResult& a, const RunResult& b) {
  const report::RunComparison comparison = report::compare_runs(std::vector{a, b});
  CHECK(comparison.not_compared.empty());
  REQUIRE(comparison.verdicts.size() == 1);
  return comparison.verdicts.front();
}

}  // namespace

TEST_CASE("the more accurate run is the better one only if it costs no more") {
  const RunResult sync = run("sync", false, 0.90, 100);
  // 1.96 sqrt(0.9 0.1 / 10^4 + 0.92 0.08 / 10^4) = 0.79 points, computed by hand.
  CHECK(only_verdict(sync, run("votes", true, 0.92, 100)) ==
        "votes reached 92.00 % in 100.0 core-seconds, sync 90.00 % in 100.0: the former is better by 2.00 "
        "points (95 % margin 0.79).");
  CHECK_THAT(only_verdict(sync, run("votes", true, 0.92, 104.9)), Contains("the former is better by"));
  CHECK_THAT(only_verdict(sync, run("votes", true, 0.92, 120)),
             Contains("the former is more accurate by 2.00 points (95 % margin 0.79), for 1.20 times the "
                      "core-seconds.") &&
                 !Contains("better"));
  CHECK_THAT(
      only_verdict(sync, run("votes", true, 0.88, 80)),
      Contains("sync reached 90.00 %") && Contains("for 1.25 times the core-seconds") && !Contains("better"));
  CHECK_THAT(only_verdict(sync, run("votes", true, 0.907, 100)),
             Contains("the difference of 0.70 points is within the 95 % margin of 10000 test samples") &&
                 !Contains("better"));
}

TEST_CASE("a sweep is ranked by validation, not by test results, and lists the keys that differ") {
  std::vector<RunResult> runs{run("a", false, 0.99, 10), run("b", false, 0.90, 10), run("c", false, 0.95, 10),
                              run("d", false, 0.97, 10)};
  runs[0].validation_accuracy = 0.91, runs[1].validation_accuracy = 0.96, runs[3].validation_accuracy = 0.91;
  const auto keys = [](const std::string& name, const std::string& batch) {
    return report::NamedKeys{
        name, {{"train.batch", batch}, {"train.epochs", "3"}, {"data.validation_split", "0.1"}}};
  };
  std::vector<report::NamedKeys> recipes{keys("a", "32"), keys("b", "64"), keys("c", "128"),
                                         keys("d", "256")};
  const report::Ranking ranking = report::ranked(runs, recipes);
  CHECK(ranking.warnings.empty());
  CHECK(ranking.table.columns == std::vector<std::string>{"place", "run", "train.batch",
                                                          "validation accuracy", "test accuracy",
                                                          "makespan"});
  std::vector<std::string> lines;
  for (const auto& row : ranking.table.rows) lines.push_back(row[0].text + row[1].text + row[2].text);
  CHECK(lines == std::vector<std::string>{"1b64", "2a32", "2d256", "–c128"});
  CHECK(ranking.table.rows[0][3].text == "96.00 %");
  CHECK(ranking.table.rows[3][3].text == "–");
  CHECK_THAT(report::side_by_side(runs).csv(), Contains("validation accuracy,0.91,0.96,,0.91\n"));

  // The best run has no known recipe: it differs in no key, and the others keep their keys.
  std::vector<report::NamedKeys> one_unknown = recipes;
  one_unknown[1].keys.clear();
  const report::Table shown = report::ranked(runs, one_unknown).table;
  CHECK(shown.columns == ranking.table.columns);
  lines.clear();
  for (const auto& row : shown.rows) lines.push_back(row[0].text + row[1].text + row[2].text);
  CHECK(lines == std::vector<std::string>{"1b–", "2a32", "2d256", "–c128"});
  CHECK(report::differences("key", std::vector{one_unknown[0], one_unknown[1]}).rows.empty());

  recipes[1].keys["data.validation_split"] = "0.2";
  CHECK_THAT(report::ranked(runs, recipes).warnings.at(0), Contains("not all validated on the same samples"));
  // The members of an ensemble hold out a part of their shards, so these determine what is held out.
  recipes[1] = keys("b", "64");
  for (report::NamedKeys& each : recipes)
    each.keys.merge(decltype(each.keys){
        {"train.mode", "ensemble"}, {"ensemble.shards", "contiguous"}, {"ensemble.members", "4"}});
  CHECK(report::ranked(runs, recipes).warnings.empty());
  recipes[1].keys["ensemble.shards"] = "stratified";
  CHECK_THAT(report::ranked(runs, recipes).warnings.at(0), Contains("not all validated on the same samples"));
  for (report::NamedKeys& each : recipes)
    each.keys["seed"] = each.name;  // chooses the samples of a bootstrap
  for (const bool bootstrap : {false, true}) {
    for (report::NamedKeys& each : recipes)
      each.keys["ensemble.shards"] = bootstrap ? "bootstrap" : "stratified";
    CHECK(report::ranked(runs, recipes).warnings.size() == (bootstrap ? 1 : 0));
  }
  for (report::NamedKeys& each : recipes) each.keys["ensemble.shards"] = "full";
  recipes[3].keys["ensemble.members"] = "2";
  CHECK(report::ranked(runs, recipes).warnings.empty());
  for (RunResult& each : runs) each.validation_accuracy.reset();
  CHECK(report::ranked(runs, recipes).table.rows.empty());
  CHECK_THAT(report::ranked(runs, recipes).warnings.at(0), Contains("No run has validations"));
}

TEST_CASE("of the folds of one recipe, the mean is the result and none is selected") {
  std::vector<RunResult> folds{run("1", false, 0.70, 10), run("2", false, 0.80, 10),
                               run("3", false, 0.90, 10)};
  std::vector<report::NamedKeys> recipes(3);
  for (std::size_t k = 0; k < 3; ++k) {
    recipes[k].keys = {{"data.path", folds[k].name}, {"name", folds[k].name}, {"model.input", "8"}};
    folds[k].validation_accuracy = 0.9, folds[k].f1 = 0.5, folds[k].content_hash = "one";
  }
  CHECK_THAT(report::ranked(folds, recipes).note, Contains("Select a run by it") && !Contains("mean"));
  folds[1].content_hash = "two";  // one fold is there twice: the mean would not be that of the folds
  CHECK_THAT(report::ranked(folds, recipes).note, Contains("do not select one") && !Contains(" %"));
  folds[2].content_hash = "three";
  const std::string mean =  // by statistics.mean and statistics.stdev of Python
      "Over 3 runs on different datasets: test accuracy: mean 80.00 %, standard deviation 10.00 points; "
      "F1 (weighted): mean 50.00 %, standard deviation 0.00 points.";
  CHECK_THAT(report::ranked(folds, recipes).note, Contains(mean) && !Contains("Select a run"));
  CHECK(report::ranked(folds, recipes).table.rows.size() == 3);
  std::vector<report::NamedKeys> sweep = recipes;
  sweep[1].keys["model.input"] = "16",
  sweep[2].keys["model.input"] = "32";  // the same pictures, prepared anew
  const report::Ranking other = report::ranked(folds, sweep);
  CHECK_THAT(other.note, Contains("Select a run by it") && !Contains("mean"));
  CHECK_THAT(other.warnings.at(0), Contains("not all validated on the same samples"));
  sweep[2] = sweep[0], sweep[2].keys["run.threads"] = "2";  // the same recipe, on two folds
  CHECK_THAT(report::ranked(folds, sweep).note, Contains("do not select one") && !Contains(" %"));
  for (RunResult& fold : folds) fold.validation_accuracy.reset();
  CHECK_THAT(report::ranked(folds, recipes).note, Contains(mean));
  CHECK(report::ranked(folds, recipes).warnings.empty());
}

TEST_CASE("runs that were tested on different samples are not compared, and the reason is given") {
  RunResult sync = run("sync", false, 0.90, 100), votes = run("votes", true, 0.95, 100);
  const auto not_compared = [&] {
    const report::RunComparison comparison = report::compare_runs(std::vector{sync, votes});
    CHECK(comparison.verdicts.empty());
    REQUIRE(comparison.not_compared.size() == 1);
    CHECK_FALSE(report::tested_alike(std::vector{sync, votes}));
    return comparison.not_compared.front();
  };
  sync.content_hash = "one";  // the other hash is unknown
  CHECK_THAT(only_verdict(sync, votes), Contains("better"));
  CHECK(report::tested_alike(std::vector{sync, votes}));
  votes.content_hash = "two";
  CHECK(not_compared() == "sync and votes were tested on samples of different datasets.");
  votes.content_hash = "one", sync.split = "test", votes.split = "extra";
  CHECK(not_compared() == "sync and votes were tested on different splits, \"test\" and \"extra\".");
  votes.split = "test", votes.samples = 4000;
  CHECK(not_compared() == "sync and votes were tested on different numbers of samples, 10000 and 4000.");
}

TEST_CASE("every pair on equally many cores is compared; the others have a reason") {
  std::vector<RunResult> runs{run("sync", false, 0.9, 100), run("again", false, 0.9, 101),
                              run("votes", true, 0.95, 100), run("lonely", false, 0.9, 100),
                              run("crowded", true, 0.95, 100)};
  runs[3].workers = {.threads = 1, .cores = 1};
  runs[4].workers = {.threads = 4, .cores = 2};  // they cost the two existing cores
  const report::RunComparison comparison = report::compare_runs(runs);
  REQUIRE(comparison.verdicts.size() == 4);
  CHECK_THAT(comparison.verdicts[0], Contains("votes reached 95.00 %") && Contains(" sync 90.00 %"));
  CHECK_THAT(comparison.verdicts[1], Contains("votes reached 95.00 %") && Contains(" again 90.00 %"));
  CHECK_THAT(comparison.verdicts[3], Contains("crowded reached 95.00 %") && Contains(" again 90.00 %"));
  CHECK(comparison.not_compared ==
        std::vector<std::string>{"lonely: there is no ensemble on equally many cores (1)."});

  CHECK(report::compare_runs(std::vector{runs[0], runs[1]}).not_compared ==
        std::vector<std::string>{"there is no ensemble among these runs."});
  CHECK(report::compare_runs(std::vector{runs[2], runs[4]}).not_compared ==
        std::vector<std::string>{"there is no synchronous run among these runs."});
  CHECK(report::compare_runs(std::span(runs).first(1)).not_compared.empty());
}

TEST_CASE("the costs of a resumed run are left out, and no verdict uses them") {
  RunResult sync = run("sync", false, 0.90, 100), votes = run("votes", true, 0.95, 100);
  sync.resumed = true;
  CHECK(report::compare_runs(std::vector{sync, votes}).verdicts.empty());
  CHECK(report::compare_runs(std::vector{sync, votes}).not_compared ==
        std::vector<std::string>{"sync and votes: the costs of sync are only those since it was resumed."});
  CHECK_THAT(report::side_by_side(std::vector{sync, votes}).csv(),
             Contains("makespan,,50\nspeed-up,,\ncore-seconds,,100\nimages/s,,0\n"));
  CHECK_THAT(report::side_by_side(std::vector{votes, sync}).csv(),
             Contains("makespan,50,\nspeed-up,1,\ncore-seconds,100,\nimages/s,0,\n"));
}

TEST_CASE("one member of an ensemble has its title and is not compared") {
  const TemporaryFolder folder;
  example::write_run(folder / "run", example::images(folder.path()), 1, 1, 8);
  report::RunRecord record = report::read_run(folder / "run");
  record.summary.set("mode", "ensemble");
  record.summary.set("member_facts", Value::Array{Settings{{"member", 1}}});
  CHECK(report::result_of(record).name == "ensemble of 1, 1 x 1");
  record.recipe = {{"ensemble", Settings{{"members", 2}}}};
  RunResult member = report::result_of(record);
  CHECK(member.name == "member 1 of an ensemble of 2, 1 x 1");
  if (report::has_charts())
    CHECK_THAT(report::run_page(record, "").html(), Contains("member 1 of an ensemble of 2, "));
  member.workers = {.threads = 2, .cores = 2};
  CHECK(report::compare_runs(std::vector{run("sync", false, 0.9, 100), member}).not_compared ==
        std::vector<std::string>{"member 1 of an ensemble of 2, 1 x 1 is one member; `convoke gather` makes "
                                 "the ensemble.",
                                 "there is no ensemble among these runs."});
}

TEST_CASE("runs are named by title, folder or number, with a mark if threads shared cores") {
  const std::vector<std::string> folders{"runs/a", "runs/b/", "others/a"};
  CHECK(report::names_apart({"x", "y", "z"}, folders) == std::vector<std::string>{"x", "y", "z"});
  CHECK(report::names_apart({"x", "x", "z"}, folders) == std::vector<std::string>{"a: x", "b: x", "a: z"});
  CHECK(report::names_apart({"x", "y", "x"}, folders) ==
        std::vector<std::string>{"1. a: x", "2. b: y", "3. a: x"});

  const TemporaryFolder folder;
  example::write_run(folder / "run", example::images(folder.path()), 2, 4, 8);
  report::RunRecord record = report::read_run(folder / "run");
  CHECK(report::result_of(record).name == "ensemble of 2, 4 x 1");
  CHECK_FALSE(report::result_of(record).content_hash.empty());
  report::RunRecord failed = record;
  failed.summary.set("member_facts", Value::Array{Settings{{"member", 0}},
                                                  Settings{{"member", 1}, {"failure", "shard.h5: gone"}}});
  CHECK(report::result_of(failed).name == "ensemble of 2 - 1 failed, 4 x 1");
  record.summary.set("all_threads", 4);
  record.summary.set("cores", 2);
  const RunResult crowded = report::result_of(record);
  CHECK(crowded.name == "ensemble of 2, 4 x 1 [OVERSUBSCRIBED]");
  const std::string csv = report::side_by_side(std::vector{run("free", false, 0.9, 8), crowded}).csv();
  CHECK_THAT(csv, Contains("result,free,\"ensemble of 2, 4 x 1 [OVERSUBSCRIBED]\"") &&
                      Contains("worker threads,2,4\n") && Contains("their cores,2,2\n"));
  record.summary.set("other_programs", 0.234);
  CHECK_THAT(report::side_by_side(std::vector{run("quiet", false, 0.9, 8), report::result_of(record)}).csv(),
             Contains("other programs took,,0.234\n"));
  record.summary.set("core_seconds", "many");
  CHECK_THROWS_WITH(report::result_of(record), Contains("run/summary.json has no number \"core_seconds\""));
}
