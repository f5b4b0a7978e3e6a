#include "convoke/study/analysis/pivot.hpp"

#include "rows.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke::study;

namespace {

Analysis some() {
  auto all = marked(runs("sync", 10, {2.0}), "oversubscribed") + runs("sync", 1, {10, 12}) +
             runs("sync", 2, {6.0}) + runs("ensemble", 1, {10.0}) + runs("sync", 1, {5.0}, 0.5);
  all[1].accuracy = 0.985;
  return analyze(all, {});
}

}  // namespace

TEST_CASE("a table has rows by number, groups of columns, and marks at every value") {
  const TextTable table = pivot(some(), {},
                                {.rows = "ranks",
                                 .columns = "mode",
                                 .show = {"makespan_seconds", "speedup"},
                                 .only = {{"fraction", "1"}}});
  CHECK(table.columns ==
        std::vector<std::string>{"ranks", "sync: makespan (s)", "sync: speed-up", "ensemble: makespan (s)"});
  CHECK(table.rows == std::vector<std::vector<std::string>>{
                          {"1", "11 ± 13", "1.00", "10"},
                          {"2", "6", "1.83", ""},
                          {"10", "2 [OVERSUBSCRIBED]", "5.50 [OVERSUBSCRIBED]", ""},
                      });
  CHECK(pivot(some(), {},
              {.rows = "fraction", .show = {"accuracy"}, .only = {{"mode", "sync"}, {"ranks", "1"}}})
            .rows == std::vector<std::vector<std::string>>{{"1/2", ""}, {"1", "98.5"}});
}

TEST_CASE("a table in Markdown") {
  CHECK(to_markdown({"", "", {"ranks", "time (s)"}, {{"1", "9"}, {"a|b", ""}}}) ==
        "| ranks | time (s) |\n|---|---|\n| 1 | 9 |\n| a\\|b |  |\n");
  const TextTable broken{"", "", {"a\nb", "c"}, {{"x", "y"}}};  // names with line breaks
  CHECK(to_markdown(broken) == "| a b | c |\n|---|---|\n| x | y |\n");
  CHECK(to_text(broken) == "a b  c\nx    y\n");
}

TEST_CASE("published decreases stand beside measured ones") {
  const PublishedTable theirs = published("mnist-ensemble-decrease.csv");
  const Analysis analysis = analyze(std::span(&theirs, 1), {});
  const TextTable table = pivot(analysis, std::span(&theirs, 1),
                                {.rows = "ranks", .columns = "machine", .show = {"decrease_percent"}});
  CHECK(table.columns == std::vector<std::string>{"ranks", "1", "2"});
  CHECK(table.rows.at(1) == std::vector<std::string>{"2", "22.5", "17.7"});
  CHECK(table.rows.back() == std::vector<std::string>{"12", "", "91.5"});
}

TEST_CASE("a column that is only printed in a table is shown with its digits") {
  const PublishedTable theirs = published("thesis-cost.csv");
  const TextTable table = pivot(analyze(std::span(&theirs, 1), {}), std::span(&theirs, 1),
                                {.rows = "mode", .columns = "system", .show = {"cost_per_training"}});
  CHECK(table.columns == std::vector<std::string>{"mode", "NN-TWINS", "RNN-SA", "IC-DR"});
  CHECK(table.rows.front() == std::vector<std::string>{"local cluster", "0.060", "0.106", "3.44"});
  PublishedTable efficiency;  // neither times nor speed-ups
  efficiency.rows.emplace_back().measurement.ranks = 4;
  efficiency.rows[0].printed["efficiency"] = {.value = 0.88, .half_unit = 0.005};
  const std::span<const PublishedTable> alone(&efficiency, 1);
  CHECK(pivot(analyze(alone, {}), alone, {.show = {"efficiency"}}).rows ==
        std::vector<std::vector<std::string>>{{"4", "0.88"}});
  CHECK_THAT(remarks(analyze(alone, {})).at(0), Contains("there is nothing to compute"));
}

TEST_CASE("a printed column is shown if the table names its machine, or one of several") {
  const auto texts = [](const std::vector<std::string>& machines) {
    PublishedTable table;
    for (const std::string& machine : machines) {
      Measurement run = runs("sync", 2, {10}).front();
      run.machine = machine;
      table.rows.push_back({run, {{"scaling_percent", {83.3, 0.05}}}, {}});
    }
    const std::span<const PublishedTable> tables(&table, 1);
    return pivot(analyze(tables, {}), tables, {.columns = "machine", .show = {"scaling_percent"}}).rows.at(0);
  };
  CHECK(texts({"A"}) == std::vector<std::string>{"2", "83.3"});
  CHECK(texts({"A", ""}) == std::vector<std::string>{"2", "83.3", "83.3"});
}

TEST_CASE("values of failed runs are not shown, measured or printed") {
  PublishedTable table;
  for (const Measurement& run : runs("sync", 1, {10}) + marked(runs("sync", 2, {7}), "failed"))
    table.rows.push_back({run, {{"makespan_seconds", {7, 0.5}}, {"scaling_percent", {83.3, 0.05}}}, {}});
  const std::span<const PublishedTable> tables(&table, 1);
  const TextTable shown =
      pivot(analyze(tables, {}), tables, {.show = {"makespan_seconds", "scaling_percent"}});
  CHECK(shown.rows == std::vector<std::vector<std::string>>{{"1", "10", "83.3"}, {"2", "", ""}});
}

TEST_CASE("errors of a table name what there is") {
  CHECK_THAT(error_of([] { pivot(some(), {}, {.rows = "rank", .show = {"speedup"}}); }),
             Contains("\"rank\" is not a coordinate of a configuration"));
  CHECK_THAT(error_of([] { pivot(some(), {}, {.show = {"seconds"}}); }),
             Contains("no configuration of the tables has a value of \"seconds\""));
  CHECK_THAT(error_of([] { pivot(some(), {}, {.show = {"speedup"}}); }),
             Contains("two configurations have the same place in the table: net, sync, 1 rank"));
  CHECK_THAT(error_of([] {
               pivot(some(), {}, {.show = {"speedup"}, .only = {{"mode", "groups"}}});
             }),
             Contains("the tables have no such configuration"));
}
