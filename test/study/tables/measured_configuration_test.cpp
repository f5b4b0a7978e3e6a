#include "convoke/study/tables/measured_configuration.hpp"

#include "rows.hpp"
#include "support/catch.hpp"

using namespace convoke::study;

namespace {

Measurement measured(std::int64_t ranks, double seconds, std::vector<std::string> marks = {}) {
  Measurement m;
  m.system = "net";
  m.mode = "sync";
  m.ranks = ranks;
  m.threads = 2;
  m.makespan_seconds = seconds;
  m.marks = std::move(marks);
  return m;
}

}  // namespace

TEST_CASE("runs with the same coordinates form a configuration") {
  const auto configurations =
      configurations_of(std::vector{measured(1, 10), measured(2, 6), measured(1, 12), measured(2, 5)});
  REQUIRE(configurations.size() == 2);
  CHECK(configurations[0].at.ranks == 1);
  CHECK(configurations[0].find("makespan_seconds")->mean == 11);
  CHECK(configurations[1].find("makespan_seconds")->mean == 5.5);
  CHECK(configurations[1].find("core_seconds")->mean == 5.5 * 4);  // 2 ranks x 2 threads
  CHECK(configurations[1].find("accuracy") == nullptr);
}

TEST_CASE("runs of two machines are two configurations, not repeats") {
  std::vector<Measurement> runs{measured(1, 10), measured(1, 11), measured(1, 30),
                                measured(1, 1, {"failed"})};
  runs[0].machine = runs[1].machine = "fast";
  runs[2].machine = "slow";
  const auto configurations = configurations_of(runs);
  REQUIRE(configurations.size() == 2);
  CHECK(configurations[0].find("makespan_seconds")->mean == 10.5);
  CHECK(configurations[0].failed == 1);  // it failed before it recorded its machine
  CHECK(configurations[1].find("makespan_seconds")->mean == 30);
  CHECK(to_string(configurations[1].at) == "net, sync, 1 rank x 2 threads, slow");
  CHECK(run_name(configurations[0].at) ==
        run_name(configurations[1].at));  // folders of runs are planned for any machine
  CHECK(largest_configuration_at(configurations, on_any_machine(configurations[1].at)) == &configurations[0]);
}

TEST_CASE("failed runs do not count; contended ones count if there are no others") {
  auto second = measured(2, 22, {"oversubscribed", "contended"});
  second.repeat = 2;
  const auto configurations = configurations_of(
      std::vector{measured(1, 10), measured(1, 99, {"contended"}), measured(1, 1, {"failed"}),
                  measured(2, 20, {"contended"}), second, measured(4, 1, {"failed"})});
  REQUIRE(configurations.size() == 3);
  CHECK(configurations[0].find("makespan_seconds")->mean == 10);
  CHECK(configurations[0].failed == 1);
  CHECK(configurations[0].contended == 1);
  CHECK(configurations[0].marks.empty());
  CHECK(configurations[1].find("makespan_seconds")->mean == 21);
  CHECK(configurations[1].marks == std::vector<std::string>{"contended", "oversubscribed"});
  CHECK(configurations[2].runs.empty());
  CHECK(configurations[2].find("makespan_seconds") == nullptr);
}

TEST_CASE("if a contended repeat was made again, the last run counts") {
  const auto configurations =
      configurations_of(std::vector{measured(1, 99, {"contended"}), measured(1, 10),
                                    measured(2, 30, {"contended"}), measured(2, 20, {"contended"})});
  CHECK(configurations[0].find("makespan_seconds")->count == 1);
  CHECK(configurations[0].contended == 1);
  CHECK(configurations[0].marks.empty());
  CHECK(configurations[1].find("makespan_seconds")->count == 1);  // both have the same seed: not two repeats
  CHECK(configurations[1].find("makespan_seconds")->mean == 20);
  CHECK(configurations[1].marks == std::vector<std::string>{"contended"});
}

TEST_CASE("a contended run is not replaced by the same repeat of another study") {
  const auto first = marked(runs("sync", 1, {10, 11}), "contended"),
             second = marked(runs("sync", 1, {12, 13}), "contended");
  for (const std::vector<std::vector<Measurement>>& studies :
       {std::vector{first, second}, std::vector{second, first}}) {
    const MeasuredConfiguration configuration = configurations_of(studies).at(0);
    CHECK(configuration.find("makespan_seconds")->count == 4);
    CHECK(configuration.contended == 0);
  }
}

TEST_CASE("in two studies together, times count twice, and the accuracy of a seed once") {
  const auto seed = [](std::int64_t repeat, double seconds, double accuracy) {
    Measurement m = measured(1, seconds);
    m.repeat = repeat, m.accuracy = accuracy;
    return m;
  };
  const auto configurations =
      configurations_of(std::vector{seed(1, 10, 0.98), seed(2, 11, 0.98), seed(1, 12, 0.98),
                                    seed(2, 13, 0.98), seed(3, 14, 0.95), seed(3, 15, 0.96)});
  REQUIRE(configurations.size() == 1);
  CHECK(configurations[0].find("makespan_seconds")->count == 6);
  CHECK(configurations[0].find("accuracy")->count ==
        4);  // two seeds may have equal accuracies; the third was not the same run
  CHECK(configurations[0].find("accuracy")->mean == Approx((0.98 + 0.98 + 0.95 + 0.96) / 4));
}

TEST_CASE("scores and further numbers of a configuration have statistics; a seed's scores count once") {
  auto all = runs("sync", 1, {10, 11}) + runs("sync", 1, {12});
  for (Measurement& run : all) {
    run.f1 = run.repeat == 1 ? 0.5 : 0.75;
    run.further["test.ece"] = 0.25 * *run.makespan_seconds;
  }
  const MeasuredConfiguration configuration = configurations_of(all).at(0);
  CHECK(configuration.find("f1")->count == 2);
  CHECK(configuration.find("f1")->mean == 0.625);
  CHECK(configuration.find("summary.test.ece")->count == 3);
  CHECK(configuration.find("summary.test.ece")->mean == 2.75);
  CHECK(configuration.find("roc_auc") == nullptr);
}

TEST_CASE("emulated runs are never repeats of others") {
  auto all = runs("ensemble", 2, {10, 11}) + runs("ensemble", 2, {8}) + runs("ensemble", 2, {1});
  all[2].marks = {"emulated"};
  all[3].marks = {"emulated", "failed"};
  const auto configurations = configurations_of(all);
  REQUIRE(configurations.size() == 2);
  CHECK(configurations[0].find("makespan_seconds")->mean == 10.5);
  CHECK(configurations[0].failed == 0);
  CHECK(configurations[1].at.emulated);
  CHECK(configurations[1].failed == 1);
  CHECK(configurations[1].marks == std::vector<std::string>{"emulated"});
  CHECK(run_name(configurations[1].at) == run_name(configurations[0].at) + "-emulated");
}

TEST_CASE("the folder of a configuration has a name that file systems allow") {
  Coordinates a, b;
  a.variant = std::string(300, 'x') + "1";
  b.variant = std::string(300, 'x') + "2";
  CHECK(run_name(a).size() == 220);
  CHECK(run_name(a) != run_name(b));
}

TEST_CASE("a configuration's coordinates have a text form") {
  Coordinates at{"net", "sync", 4, 2, 0.25, "weak", "train.micro_batch=8"};
  CHECK(to_string(at) ==
        "net, sync, 4 ranks x 2 threads, 1/4 of the samples, weak batch, train.micro_batch=8");
  CHECK(to_string(Coordinates{"net", "", 1, 1, 1, "", ""}) == "net, 1 rank");
  CHECK(fraction_text(1.0 / 3) == "1/3");
  CHECK(fraction_text(0.3) == "0.3");
}
