#include "convoke/study/analysis/cost.hpp"

#include <random>

#include "convoke/study/analysis/analysis.hpp"
#include "machines_of.hpp"
#include "rows.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/source_path.hpp"

using namespace convoke::study;

namespace {

std::string error_in(const std::string& toml) {
  return error_of([&] { machines_of(toml); });
}

std::vector<Measurement> one(std::int64_t ranks, double seconds, double accuracy) {
  return with(runs("sync", ranks, {seconds}), &Measurement::accuracy, accuracy);
}

}  // namespace

TEST_CASE("the thesis' costs follow from its machines") {
  const auto machines = read_machines(source_path("apps/studies/thesis-prices.toml"));
  CHECK(machines.at(0).currency == "USD");
  CHECK(machines.at(1).data.megabytes_per_second == 12.2);
  CHECK(machines.at(0).ownership->per_hour() == Approx(25000 / 8760.0));
  CHECK(std::round(100 * machines[0].ownership->per_hour()) == 285);
  const PublishedTable table = published("thesis-cost.csv");
  AnalysisOptions options;
  options.machines = machines;
  const Analysis analysis = analyze(std::span(&table, 1), options);
  for (const TableRow& row : table.rows) {
    CAPTURE(row.where);
    const Printed& printed = row.printed.find("cost_per_training")->second;
    const bool preemptible = row.measurement.mode.ends_with(" preemptible");
    const auto cost = std::find_if(analysis.costs.begin(), analysis.costs.end(), [&](const Cost& c) {
      return c.at == coordinates(row.measurement) && (c.terms == "preemptible") == preemptible;
    });
    REQUIRE(cost != analysis.costs.end());
    CHECK(std::abs(cost->cost - printed.value) <= printed.half_unit);
  }
  // Cost-efficiency: 49.50, 84.91 and 84.88 %, with an hour of the cluster at 2.85 instead of 2.8539 dollars.
  std::vector<double> saved;
  for (const Cost& cost : analysis.costs) {
    if (cost.at.mode.ends_with(" preemptible")) saved.push_back(cost.efficiency_percent.value());
  }
  REQUIRE(saved.size() == 3);
  CHECK(saved[0] == Approx(49.50).margin(1.3));  // from 0.030 and 0.060 dollars, printed with two digits
  CHECK(saved[1] == Approx(84.91).margin(0.03));
  CHECK(saved[2] == Approx(84.88).margin(0.03));
}

TEST_CASE("a training costs nodes x price x hours, with the interval of its time") {
  const auto machines = machines_of(
      "[[machine]]\nname = \"cloud\"\ncores = 4\nspeed = 2\nprice_per_hour = 3.6\n"
      "[[machine]]\nname = \"ours\"\npurchase = 8760\nyears = 2\nwatts = 500\nprice_per_kwh = 0.4\nuse = "
      "0.5\n");
  const auto configurations = configurations_of(runs("sync", 6, {90, 110}));
  const auto all = costs(configurations, machines, "ours");
  REQUIRE(all.size() == 2);
  CHECK(all[0].nodes == 2);
  CHECK(all[0].seconds == 50);
  CHECK(all[0].cost == Approx(2 * 3.6 * 50 / 3600));
  CHECK(all[0].interval->high ==
        Approx(2 * 3.6 / 3600 * configurations[0].find("makespan_seconds")->interval->high / 2));
  CHECK(all[1].price_per_hour == Approx(1 + 0.2));
  CHECK(all[1].cost == Approx(1.2 * 100 / 3600));
  CHECK(all[0].efficiency_percent.value() == Approx(100 * (1 - all[0].cost / all[1].cost)));
  CHECK_FALSE(all[1].efficiency_percent);
  CHECK_THAT(error_of([&] { costs(configurations, machines, "our"); }),
             Contains("unknown machine \"our\" (did you mean \"ours\"?)"));
}

TEST_CASE("ranks that share cores cost only the existing cores") {
  const auto machines = machines_of("[[machine]]\nname = \"desk\"\ncores = 2\nprice_per_hour = 3.6\n");
  auto crowded = runs("sync", 8, {100, 101});
  CHECK(costs(configurations_of(crowded), machines, "").at(0).nodes == 4);
  for (Measurement& run : crowded) {
    run.marks = {"oversubscribed"};
    run.core_seconds = 2 * *run.makespan_seconds;
  }
  CHECK(costs(configurations_of(crowded), machines, "").at(0).nodes == 1);
}

TEST_CASE("the cost of preemption equals that of a simulation") {
  const Preemption often{
      .hours_between = 1, .restart_seconds = 300, .checkpoint_every = 1200, .checkpoint_seconds = 30};
  std::mt19937_64 random(7);
  std::exponential_distribution<double> until(1 / 3600.0);
  double total = 0;
  constexpr int kTrainings = 20000;
  for (int i = 0; i < kTrainings; ++i) {
    for (int piece = 0; piece < 3; ++piece) {  // an hour of work
      for (double preempted = until(random); preempted < 1230; preempted = until(random)) {
        total += preempted;
        for (preempted = until(random); preempted < 300; preempted = until(random)) total += preempted;
        total += 300;
      }
      total += 1230;
    }
  }
  CHECK(often.expected_seconds(3600) == Approx(total / kTrainings).epsilon(0.01));
  CHECK(Preemption{}.expected_seconds(3600) == 3600);
  const Preemption never{
      .hours_between = 0, .restart_seconds = 300, .checkpoint_every = 1200, .checkpoint_seconds = 30};
  CHECK(never.expected_seconds(3600) == 3690);

  const auto machines = machines_of(
      "[[machine]]\nname = \"spot\"\nprice_per_hour = 2\npreemptible_price_per_hour = "
      "1\nhours_between_preemptions = 1\n"
      "restart_seconds = 300\ncheckpoint_every_seconds = 1200\ncheckpoint_seconds = 30\n");
  const auto all = costs(configurations_of(runs("sync", 1, {3600})), machines, "");
  REQUIRE(all.size() == 2);
  CHECK(all[0].cost == Approx(2));
  CHECK(all[1].cost == Approx(often.expected_seconds(3600) / 3600));
  CHECK(all[1].restart_share == Approx(1 - 3600 / often.expected_seconds(3600)));
}

TEST_CASE("a restart without a given time takes the start time of the runs") {
  const auto machines = machines_of(
      "[[machine]]\nname = \"spot\"\npreemptible_price_per_hour = 1\nhours_between_preemptions = 1\n"
      "checkpoint_every_seconds = 1200\n");
  std::vector<Measurement> times = runs("sync", 1, {3600, 3600});
  CHECK_FALSE(costs(configurations_of(times), machines, "").front().restart_seconds);
  times[0].launch_seconds = 3, times[1].launch_seconds = 5;
  times[0].load_seconds = times[1].load_seconds = 16;
  const Cost cost = costs(configurations_of(times), machines, "").front();
  CHECK(cost.restart_measured);
  CHECK(cost.restart_seconds.value() == Approx(20));
  const Preemption given{.hours_between = 1, .restart_seconds = 20, .checkpoint_every = 1200};
  CHECK(cost.seconds == Approx(given.expected_seconds(3600)));
}

TEST_CASE("invalid machines are refused with their place") {
  CHECK_THAT(error_in("[[machine]]\nname = \"a\"\nprice_per_hours = 1\n"),
             Contains("did you mean \"price_per_hour\"?"));
  CHECK_THAT(error_in("[[machine]]\nname = \"a\"\n"), Contains("prices.toml:1: machine: \"a\" has no price"));
  CHECK_THAT(error_in("[[machine]]\nname = \"a\"\npurchase = 1000\n"), Contains("years"));
  CHECK_THAT(error_in("[[machine]]\nname = \"a\"\nprice_per_hour = 0\n"), Contains("must be above 0"));
  CHECK_THAT(error_in("[[machine]]\nname = \"a\"\nprice_per_hour = 1\nspeed = inf\n"), Contains("finite"));
  CHECK_THAT(error_in("[[machine]]\nname = \"a\"\nprice_per_hour = 1\nstorage_price_per_gb_month = -1\n"),
             Contains("must be at least 0"));
  CHECK_THAT(
      error_in(
          "[[machine]]\nname = \"a\"\nprice_per_hour = 1\n[[machine]]\nname = \"a\"\nprice_per_hour = 2\n"),
      Contains("machine \"a\" occurs twice"));
  CHECK_THAT(error_in(""), Contains("has no [[machine]]"));
  CHECK_THAT(error_of([] { read_machines("none.toml"); }), Contains("none.toml: cannot be read"));
}

TEST_CASE(
    "a configuration is Pareto-optimal if no other is as good in time, cost and accuracy, and better in "
    "one") {
  const auto crowded = marked(one(16, 1, 0.99), "oversubscribed");
  const auto configurations = configurations_of(one(1, 100, 0.90) +  // the cheapest
                                                one(2, 60, 0.90) +   // faster, for 120 core-seconds
                                                one(4, 60, 0.90) +   // as fast, but more expensive: dominated
                                                one(8, 70, 0.95) +   // the most accurate
                                                one(3, 110, 0.89) +  // worse than one rank in everything
                                                crowded);
  const auto points = pareto(configurations, {});
  REQUIRE(points.size() == 5);
  std::vector<bool> optimal;
  for (const ParetoPoint& point : points) optimal.push_back(point.optimal);
  CHECK(optimal == std::vector{true, true, false, true, false});
  CHECK(points[1].cost == 120);

  // By money, eight ranks on one node cost as much as one.
  PricedMachine machine;
  machine.name = "node";
  machine.price_per_hour = 36;
  const std::vector<PricedMachine> machines{machine};
  const auto priced = pareto(configurations, costs(configurations, machines, ""));
  REQUIRE(priced.size() == 5);
  CHECK(priced[0].machine == "node");
  CHECK(priced[0].cost == 1);
  CHECK_FALSE(priced[0].optimal);  // two ranks are faster and cheaper
  CHECK(priced[1].optimal);
  CHECK(priced[2].optimal);  // equal to two ranks in all three
  CHECK(priced[3].optimal);
  // A table without accuracies has no points.
  CHECK(pareto(configurations_of(runs("sync", 1, {1})), {}).empty());
}
