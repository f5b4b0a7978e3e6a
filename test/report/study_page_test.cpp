#include "convoke/report/study_page.hpp"

#include <tuple>

#include "called.hpp"
#include "example_studies.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"
#include "support/source_path.hpp"

using namespace convoke;

TEST_CASE("curves with bases of different sizes have separate ideal lines") {
  std::vector<study::Measurement> all;
  for (const auto& [mode, ranks, seconds] : {std::tuple("sync", 1, 8.0), std::tuple("sync", 2, 4.5),
                                             std::tuple("groups", 4, 3.0), std::tuple("groups", 8, 1.6)}) {
    for (const double more : {0.0, 0.1}) {
      study::Measurement& run = all.emplace_back();
      run.system = "net", run.mode = mode, run.ranks = ranks, run.makespan_seconds = seconds + more;
      if (run.mode == "groups") run.variant = "train.micro_batch=4 ensemble.members=4";  // different work
      run.repeat = more == 0 ? 1 : 2;
    }
  }
  const report::Page page = report::study_page("bases", study::analyze(all, {}), {}, "made by a test");
  const report::Table& table = called(page.charts(), "Speed-up by workers, makespan").table;
  const std::size_t over_1 = table.columns.size() - 2, over_4 = table.columns.size() - 1;
  CHECK(table.columns[over_1] == "ideal, over 1 workers");
  CHECK(table.columns[over_4] == "ideal, over 4 workers");
  REQUIRE(table.rows.size() == 4);
  CHECK(table.rows[1][over_1].value == "2");
  CHECK(table.rows[1][over_4].value.empty());
  CHECK(table.rows[3][over_1].value.empty());
  CHECK(table.rows[3][over_4].value == "2");
}

TEST_CASE("each publication without times is a line of its own, with and without measurements") {
  const auto theirs = study::read_table(source_path("docs/results/published/mnist-ensemble-decrease.csv"));
  const auto ours = study::read_table(source_path("docs/results/mnist-ensemble/emulated.csv"));
  for (const std::vector<study::PublishedTable>& tables : {std::vector{theirs}, std::vector{ours, theirs}}) {
    const report::Page page = report::study_page("two", study::analyze(tables, {}), {}, "made by a test");
    const report::Table& table =
        called(page.charts(), "Decrease of the time by workers, published figures").table;
    CHECK(table.columns == std::vector<std::string>{"workers", "1", "2"});
    CHECK(std::stod(table.rows.at(1).at(1).value) == Approx(22.52));
    CHECK(std::stod(table.rows.at(1).at(2).value) == Approx(17.69));
  }
}

TEST_CASE(
    "numbers with intervals and marks in a study's tables are aligned to the right and have their value") {
  const report::Page page =
      report::study_page("a study", example::study_of_two_modes(), {}, "made by a test");
  const auto table_called = [&](std::string_view title) {
    const auto named =
        std::find_if(page.tables().begin(), page.tables().end(),
                     [&](const report::NamedTable& each) { return each.title.starts_with(title); });
    REQUIRE(named != page.tables().end());
    return named->table;
  };
  const report::Table differences = table_called("Differences");
  const report::Cell &interval = differences.rows[0][4], &p = differences.rows[0][5];
  CHECK_THAT(interval.text, Contains(" to "));
  CHECK(interval.value == interval.text.substr(0, interval.text.find(' ')));
  CHECK(p.text == "< 0.0001");
  CHECK(p.value == "0.0001");
  CHECK(differences.rows[0][2].value.empty());  // the quantity is a name
  CHECK_THAT(differences.csv(), Contains("," + interval.text + ",< 0.0001,"));
  CHECK_THAT(differences.html("t"),
             Contains("<td class=n data-v=\"" + interval.value + "\">" + interval.text));
  const report::Table fractions = table_called("Efficiency by fraction");
  CHECK_THAT(fractions.rows[0][3].text, Contains("[OVERSUBSCRIBED]"));
  CHECK(std::stod(fractions.rows[0][3].value) == std::stod(fractions.rows[0][3].text));
  CHECK_THAT(fractions.csv(), Contains(fractions.rows[0][3].text));

  study::Measurement tiny;  // below the normal numbers
  tiny.system = "net", tiny.mode = "sync", tiny.makespan_seconds = 1e-310;
  const report::Page small =
      report::study_page("tiny", study::analyze(std::vector{tiny}, {}), {}, "made by a test");
  CHECK_THAT(small.html(), Contains("<td class=n>1e-310"));
}

TEST_CASE("configurations of emulated members are separate series, and the page says what their times are") {
  std::vector<study::Measurement> all;
  for (const std::int64_t ranks : {1, 2, 2, 4}) {
    study::Measurement& run = all.emplace_back();
    run.system = "net", run.mode = "ensemble", run.ranks = ranks;
    run.makespan_seconds = 8.0 / static_cast<double>(ranks), run.accuracy = 0.9;
    if (all.size() > 2) {
      run.marks = {"emulated"};
      run.makespan_seconds = 7.0 / static_cast<double>(ranks);
    }
  }
  const report::Page page = report::study_page("turns", study::analyze(all, {}), {}, "made by a test");
  for (const char* title :
       {"Makespan by workers", "Decrease of the time by workers, makespan", "Accuracy by workers"}) {
    const report::Chart& chart = called(page.charts(), title);
    CHECK(chart.table.columns == std::vector<std::string>{"workers", "all", "all, emulated"});
    CHECK(chart.apart.at("all, emulated") == "all");
    REQUIRE(chart.table.rows.size() == 3);
    CHECK_FALSE(chart.table.rows[1][1].value.empty());  // two workers, both ways
    CHECK_FALSE(chart.table.rows[1][2].value.empty());
    CHECK(chart.table.rows[2][1].value.empty());
  }
  CHECK(called(page.charts(), "Makespan by workers").table.rows[1][1].value == "4");
  CHECK(called(page.charts(), "Makespan by workers").table.rows[1][2].value == "3.5");
  const report::Table& points = called(page.charts(), "Cost, time and accuracy").table;
  CHECK(points.rows[2][3].text == "! 2 ranks, emulated");
  if (!report::has_charts()) return skip("Chart.js was not installed when this was built");
  CHECK_THAT(
      page.html(),
      Contains("2 of 4 configurations are marked &quot;emulated&quot;: there were fewer cores than members"));
}

TEST_CASE("the page of a study shows marked figures separately, with intervals and the ideal line") {
  const report::Page page = report::study_page(
      "a study", example::study_of_two_modes(),
      {"name = \"x\"\n", "convoke study x.toml", {{"cpu", "a processor"}, {"ranks", 3}}}, "made by a test");
  const report::Chart& times = called(page.charts(), "Makespan by workers");
  CHECK(times.table.columns ==
        std::vector<std::string>{"workers", "sync", "sync, from", "sync, to", "sync, oversubscribed",
                                 "sync, oversubscribed, from", "sync, oversubscribed, to", "ensemble",
                                 "ensemble, from", "ensemble, to", "ensemble, oversubscribed",
                                 "ensemble, oversubscribed, from", "ensemble, oversubscribed, to"});
  CHECK(times.intervals.size() == 4);
  const std::map<std::string, std::string> apart{{"sync, oversubscribed", "sync"},
                                                 {"ensemble, oversubscribed", "ensemble"}};
  CHECK(times.apart == apart);
  CHECK(called(page.charts(), "Speed-up by workers, makespan").apart == apart);
  CHECK(called(page.charts(), "Efficiency by workers, makespan").apart == apart);
  CHECK(called(page.charts(), "Accuracy by core-seconds").apart == apart);
  REQUIRE(times.table.rows.size() == 3);
  CHECK(times.table.rows[0][1].value == "10.7");  // with all samples: 10 + 0.5 + 0.2
  CHECK(times.table.rows[0][4].value.empty());
  CHECK(times.table.rows[2][1].value.empty());
  CHECK(times.table.rows[2][4].value == "3.2");

  const report::Chart& speedup = called(page.charts(), "Speed-up by workers, makespan");
  CHECK(speedup.table.columns.back() == "ideal");
  CHECK(speedup.table.rows[2].back().value == "4");
  CHECK(called(page.charts(), "Efficiency by workers, makespan").table.rows[1].back().value == "100");
  const report::Table& decrease = called(page.charts(), "Decrease of the time by workers, makespan").table;
  CHECK(std::stod(decrease.rows[0][1].value) == 0);
  CHECK(std::stod(decrease.rows[1][1].value) == Approx(100 * (1 - 5.7 / 10.7)).epsilon(1e-4));
  const report::Chart& accuracy = called(page.charts(), "Accuracy by workers");
  CHECK(accuracy.apart == apart);
  CHECK(accuracy.table.columns == times.table.columns);
  CHECK(accuracy.table.rows[1][1].value == "91.2");  // with all samples: 0.9 + 0.01 + 0.002
  CHECK(accuracy.table.rows[2][4].value == "91.2");  // of the oversubscribed configuration
  CHECK_FALSE(accuracy.from_zero);
  CHECK(called(page.charts(), "Predicted makespan").table.rows.size() == 4);  // 1, 2, 4, 8
  CHECK(called(page.charts(), "Time by fraction: sync").table.rows.size() == 2);
  const report::Chart& accuracies = called(page.charts(), "Accuracy by core-seconds");
  CHECK(accuracies.table.rows.size() == 12);
  CHECK(accuracies.most == 100);
  REQUIRE(accuracies.interval_of(1) != nullptr);
  CHECK(accuracies.interval_of(1)->high == 5);
  CHECK(times.from_zero);
  CHECK(called(page.charts(), "Phases by configuration").table.rows[2][0].text == "! sync, 4 ranks");
  const report::Chart& cost = called(page.charts(), "Cost of one training");
  CHECK(cost.table.rows.size() == 6);
  // Not the oversubscribed configurations. Two ranks with half or all of the samples are the fastest and the
  // cheapest.
  const report::Chart& pareto = called(page.charts(), "Cost, time and accuracy");
  CHECK(pareto.table.rows.size() == 8);
  CHECK(pareto.y_title == "cost, EUR");
  for (const std::vector<report::Cell>& row : pareto.table.rows) {
    CAPTURE(row[3].text);
    CHECK(row[2].text.ends_with(", not optimal") == (row[3].text.find("1 rank") != std::string::npos));
    CHECK(row[2].text.starts_with(row[4].value == "91.2" ? "91.2 to " : "90.6 to "));
  }
  CHECK(std::stod(cost.table.rows[0][1].value) == Approx(2 * 10.7 / 3600).epsilon(1e-3));
  CHECK(cost.table.rows[5][0].text == "! ensemble, 4 ranks");

  if (!report::has_charts()) return skip("Chart.js was not installed when this was built");
  const std::string html = page.html();
  CHECK_THAT(html, Contains("4 of 12 configurations are marked &quot;oversubscribed&quot;"));
  CHECK_THAT(html, Contains("net &lt;of&gt; tests") && !Contains("<of>"));
  CHECK_THAT(html, Contains("<h2>Tables</h2>") && Contains("<h3>Study file</h3>"));
  CHECK_THAT(html,
             Contains("convoke study x.toml") && Contains("a processor") && !Contains("Threads of a rank"));
}
