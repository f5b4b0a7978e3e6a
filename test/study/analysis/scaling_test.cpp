#include "convoke/study/analysis/scaling.hpp"

#include "convoke/study/analysis/comparison.hpp"
#include "convoke/study/analysis/scaling.hpp"
#include "rows.hpp"
#include "support/catch.hpp"

using namespace convoke::study;

namespace {

std::vector<Curve> curves_of(const std::vector<Measurement>& measurements,
                             const ScalingOptions& options = {}) {
  return scaling_curves(configurations_of(measurements), {}, options);
}

std::vector<Measurement> measurements_in(const PublishedTable& table) {
  std::vector<Measurement> all;
  for (const TableRow& row : table.rows) all.push_back(row.measurement);
  return all;
}

}  // namespace

TEST_CASE("a configuration has all published measures") {
  const auto curves =
      curves_of(runs("sync", 1, {100}) + runs("sync", 4, {40}), {.machine_devices = 8, .up_to = 6});
  REQUIRE(curves.size() == 1);
  REQUIRE(curves[0].points.size() == 2);
  CHECK(curves[0].quantity == "makespan_seconds");
  const ScalingPoint& point = curves[0].points[1];
  CHECK(point.speedup.value == Approx(2.5));
  CHECK(point.efficiency->value == Approx(0.625));
  CHECK(point.machine_efficiency.value() == Approx(2.5 / 8));
  CHECK(point.decrease_percent.value == Approx(60));
  CHECK(point.karp_flatt->value == Approx((1 / 2.5 - 1 / 4.0) / (1 - 1 / 4.0)));
  CHECK_FALSE(point.speedup.interval);
  CHECK_FALSE(curves[0].points[0].karp_flatt);
  CHECK(curves[0].points[0].speedup.value == 1);
  // Amdahl through both points: f = 0.2, equal to Karp and Flatt's.
  CHECK(curves[0].amdahl->serial_fraction().value == Approx(point.karp_flatt->value));
  REQUIRE(curves[0].predictions.size() == 4);  // 1, 2, 4, 6
  CHECK(curves[0].predictions.back().seconds == Approx(100 * (0.2 + 0.8 / 6)));
}

TEST_CASE("intervals of measures derived from a speed-up come from the interval of the speed-up") {
  const auto curves = curves_of(runs("sync", 1, {10.02, 9.87, 10.31, 10.11, 9.95}) +
                                runs("sync", 2, {5.64, 5.71, 5.38, 5.55}));
  const ScalingPoint& point = curves.at(0).points.at(1);  // golden_statistics.py
  CHECK(point.speedup.interval->low == Approx(1.7376182533552689));
  CHECK(point.efficiency->interval->high == Approx(1.8756360639018126 / 2));
  CHECK(point.decrease_percent.interval->low == Approx(100 * (1 - 1 / 1.7376182533552689)));
  CHECK(point.karp_flatt->interval->low == Approx((1 / 1.8756360639018126 - 0.5) / 0.5));
  CHECK(point.karp_flatt->interval->high == Approx((1 / 1.7376182533552689 - 0.5) / 0.5));
}

TEST_CASE("the base has the fewest workers of the same work, in this mode or another") {
  auto all = runs("sync", 1, {100}) + runs("sync", 2, {60}) + runs("ensemble", 2, {50}) +
             runs("ensemble", 4, {30}) + runs("sync", 1, {20}, 0.25) + runs("sync", 2, {15}, 0.25);
  const auto curves = curves_of(all);
  REQUIRE(curves.size() == 3);
  CHECK(curves[1].shared.mode == "ensemble");
  CHECK(curves[1].base.mode == "sync");
  CHECK(curves[1].points.size() == 3);
  CHECK(curves[1].points[2].speedup.value == Approx(100 / 30.0));
  CHECK(curves[2].points[1].speedup.value == Approx(20 / 15.0));

  // From two ranks on, efficiency is relative to the base.
  const auto later = curves_of(runs("sync", 2, {60}) + runs("sync", 4, {40}));
  CHECK(later.at(0).points[1].efficiency->value == Approx(60 / 40.0 / 2));

  // Threads are workers too.
  auto threads = runs("sync", 1, {100}) + runs("sync", 2, {30});
  threads[1].threads = 2;
  CHECK(curves_of(threads).at(0).points[1].efficiency->value == Approx(100 / 30.0 / 4));
  CHECK(curves_of(runs("sync", 4, {40})).empty());
}

TEST_CASE("without ranks there is a speed-up over the sequential mode, but no efficiency") {
  const auto configurations = configurations_of(measurements_in(published("tomato-leaf.csv")));
  const auto curves = scaling_curves(configurations, {}, {});
  REQUIRE(curves.size() == 2);
  CHECK(curves[1].points[1].speedup.value == Approx(1991.15 / 1511.31));
  CHECK_FALSE(curves[1].points[1].efficiency);
  CHECK_FALSE(curves[1].amdahl);
}

TEST_CASE("published speed-ups and decreases make curves without times") {
  const PublishedTable table = published("mnist-ensemble-decrease.csv");
  const auto curves = scaling_curves({}, table.rows, {});
  REQUIRE(curves.size() == 2);
  CHECK(curves[1].quantity == "published");
  CHECK(curves[1].points.size() == 11);  // and the base
  CHECK(curves[1].points[3].speedup.value == Approx(1 / (1 - 0.8272)));
  CHECK(curves[1].points[3].decrease_percent.value == Approx(82.72));
  CHECK(curves[1].points[3].karp_flatt->value < 0);

  PublishedTable marked;
  for (const std::int64_t ranks : {2, 4, 8}) {
    TableRow& row = marked.rows.emplace_back();
    row.measurement.ranks = ranks;
    row.printed["speedup"] = {.value = 0.9 * static_cast<double>(ranks)};
  }
  marked.rows[1].measurement.marks = {"failed"};
  marked.rows[2].measurement.marks = {"oversubscribed"};
  const Curve curve = scaling_curves({}, marked.rows, {}).at(0);
  REQUIRE(curve.points.size() == 3);
  CHECK(curve.points[2].marks == std::vector<std::string>{"oversubscribed"});
  CHECK(curve.amdahl->serial_fraction().value == Approx(2 / 1.8 - 1));  // of 1 and 2 ranks
}

TEST_CASE("fractions x devices are the TPU paper's tables 6 to 8") {
  const PublishedTable times = published("birds-tpu-epoch-seconds.csv"),
                       derived = published("birds-tpu-derived.csv");
  const auto configurations = configurations_of(measurements_in(times));
  const auto curves = scaling_curves(configurations, times.rows, {.machine_devices = 8, .up_to = 0});
  const auto tables = fraction_tables(curves);
  REQUIRE(tables.size() == 1);
  CHECK(tables[0].fractions == std::vector<double>{0.125, 0.25, 0.5, 1});
  CHECK(tables[0].sizes == std::vector<FractionTable::Size>{{1, 1}, {2, 1}, {4, 1}, {8, 1}});
  for (const TableRow& row : derived.rows) {
    const auto r =
        std::find(tables[0].fractions.begin(), tables[0].fractions.end(), row.measurement.fraction) -
        tables[0].fractions.begin();
    const auto c = std::find(tables[0].sizes.begin(), tables[0].sizes.end(),
                             FractionTable::Size{row.measurement.ranks, 1}) -
                   tables[0].sizes.begin();
    const auto place = tables[0].places[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)];
    REQUIRE(place);
    const ScalingPoint& point = curves[place->curve].points[place->point];
    CAPTURE(row.where);
    for (const auto& [column, value] : {std::pair("speedup", point.speedup.value),
                                        std::pair("efficiency", point.machine_efficiency.value())}) {
      const Printed& printed = row.printed.find(column)->second;
      CHECK(std::abs(value - printed.value) <= printed.half_unit * (1 + 1e-9));
    }
  }
}

TEST_CASE("work that grows with the workers is scaled") {
  const auto curves =
      scaled_curves(configurations_of(measurements_in(published("birds-tpu-epoch-seconds.csv"))));
  REQUIRE(curves.size() == 1);
  REQUIRE(curves[0].points.size() == 4);  // 1/8 on 1, 1/4 on 2, 1/2 on 4, all on 8
  CHECK(curves[0].points[3].speedup.value == Approx(8 * 30 / 130.0));
  CHECK(curves[0].points[1].speedup.value == Approx(2 * 30 / 48.0));
  // The rates of work, R = c + d n and s = c / (c + d), by the normal equations of relative errors.
  double one = 0, n1 = 0, n2 = 0, r1 = 0, rn = 0;
  for (const auto& [n, seconds] : {std::pair(1.0, 30), {2.0, 48}, {4.0, 81}, {8.0, 130}}) {
    const double rate = n / seconds;
    one += 1 / (rate * rate), n1 += n / (rate * rate), n2 += n * n / (rate * rate);
    r1 += 1 / rate, rn += n / rate;
  }
  const double constant = r1 * n2 - rn * n1, slope = one * rn - n1 * r1;
  CHECK(curves[0].gustafson->value == Approx(constant / (constant + slope)));
  CHECK(curves[0].gustafson->interval);
  CHECK(scaled_curves(configurations_of(runs("sync", 1, {3}) + runs("sync", 2, {2}))).empty());
  const auto threads =
      with(runs("sync", 1, {3}), &Measurement::threads, 2);  // of as many workers as two ranks
  CHECK(scaled_curves(configurations_of(threads + runs("sync", 2, {2}))).empty());

  const auto both = marked(runs("sync", 1, {3, 3.1}, 0.5), "contended") + runs("sync", 2, {3.1, 3.2});
  const auto contended = scaled_curves(configurations_of(with(both, &Measurement::machine, "a processor")));
  REQUIRE(contended.size() == 1);
  CHECK(contended[0].points[1].marks == std::vector<std::string>{"contended"});
  CHECK(contended[0].gustafson->interval);  // two sizes, with the scatter of their runs
}

TEST_CASE("no law is fitted and nothing predicted if the speed-up exceeds the number of workers") {
  const auto curves = curves_of(runs("sync", 1, {100, 101}) + runs("sync", 2, {40, 41}), {.up_to = 64});
  REQUIRE(curves.size() == 1);
  CHECK(curves[0].points[1].speedup.value > 2);  // the measured speed-up is kept
  CHECK_FALSE(curves[0].amdahl);
  CHECK(curves[0].predictions.empty());
  // Through both means: 100.5 (f + (1 - f) / 2) = 40.5.
  CHECK(curves[0].superlinear->value == Approx(2 * 40.5 / 100.5 - 1));
  CHECK(curves[0].superlinear->interval);

  // Through 8 and 16 workers, one would take less than no time.
  const auto slower = curves_of(runs("sync", 8, {10, 10.1}) + runs("sync", 16, {11, 11.2}), {.up_to = 64});
  CHECK(slower[0].slows_down);
  CHECK_FALSE(slower[0].superlinear);
  CHECK(slower[0].predictions.empty());

  const auto scaled =
      scaled_curves(configurations_of(runs("sync", 1, {10, 10.1}, 0.5) + runs("sync", 2, {8, 8.1})));
  REQUIRE(scaled.size() == 1);
  CHECK(scaled[0].points[1].speedup.value > 2);
  CHECK_FALSE(scaled[0].gustafson);
}

TEST_CASE("curves compare groups with their model in synchronous mode") {
  const std::string epochs = "train.epochs=2";
  const auto two = with(runs("groups", 4, {30, 31}), &Measurement::variant, epochs + " ensemble.members=2"),
             four = with(runs("groups", 8, {20, 21}), &Measurement::variant, epochs + " ensemble.members=4"),
             sync = with(runs("sync", 1, {100, 101}), &Measurement::variant, epochs);
  const auto curves = curves_of(two + four + sync);
  REQUIRE(curves.size() == 2);  // one for each number of members
  for (const Curve& curve : curves) {
    CHECK(curve.base.mode == "sync");
    CHECK(curve.points.size() == 2);
  }
  CHECK(curves[0].points[1].speedup.value == Approx(100.5 / 30.5));
  CHECK(curves_of(two + runs("sync", 1, {100, 101})).empty());  // different work
}

TEST_CASE("marks of the base apply to all derived measures, and to the law") {
  const auto base = marked(runs("sync", 1, {100, 101}), "contended");
  const auto curves = curves_of(base + runs("sync", 2, {55, 56}));
  const ScalingPoint& point = curves.at(0).points.at(1);
  CHECK(point.marks.empty());
  CHECK(point.marks_of_ratios == std::vector<std::string>{"contended"});
  CHECK(curves[0].law_marks == std::vector<std::string>{"contended"});
}

TEST_CASE("a speed-up whose interval reaches zero gives no interval of its inverse") {
  const auto curves = curves_of(runs("sync", 1, {8, 12}) + runs("sync", 2, {5, 5.2}));
  const ScalingPoint& point = curves.at(0).points.at(1);
  REQUIRE(point.speedup.interval);
  CHECK(point.speedup.interval->low < 0);
  CHECK(point.decrease_percent.value == Approx(49));
  CHECK_FALSE(point.decrease_percent.interval);
  CHECK_FALSE(point.karp_flatt->interval);
}

TEST_CASE("equally many workers by ranks and by threads have separate columns") {
  const auto threads =
      with(runs("sync", 1, {52, 53}) + runs("sync", 1, {27, 28}, 0.5), &Measurement::threads, 2);
  const auto curves = curves_of(runs("sync", 1, {100, 101}) + runs("sync", 2, {55, 56}) +
                                runs("sync", 1, {50, 51}, 0.5) + runs("sync", 2, {28, 29}, 0.5) + threads);
  const auto tables = fraction_tables(curves);
  REQUIRE(tables.size() == 1);
  CHECK(tables[0].sizes == std::vector<FractionTable::Size>{{1, 1}, {1, 2}, {2, 1}});
}

TEST_CASE(
    "configurations of emulated members are points of the same curve, and their base is measured if it can "
    "be") {
  const auto turns =
      marked(runs("ensemble", 1, {9, 9.2}) + runs("ensemble", 2, {4.9, 5.1}) + runs("ensemble", 8, {2, 2.2}),
             "emulated");
  const auto configurations =
      configurations_of(turns + runs("ensemble", 1, {10, 10.2}) + runs("ensemble", 2, {5.5, 5.7}));
  const auto curves = scaling_curves(configurations, {}, {});
  REQUIRE(curves.size() == 1);
  CHECK_FALSE(curves[0].base.emulated);
  REQUIRE(curves[0].points.size() == 5);
  CHECK(curves[0].points.back().at.emulated);
  CHECK(curves[0].points.back().speedup.value == Approx(10.1 / 2.1));
  CHECK(curves[0].points.back().marks == std::vector<std::string>{"emulated"});
  CHECK(curves[0].law_marks == std::vector<std::string>{"emulated"});
  // Both ways of two ranks are compared, and neighbors in ranks only within one way.
  const auto found = comparisons(configurations);
  const auto ways = std::ranges::count(found, "emulated", &Comparison::varies);
  CHECK(ways == 2);
  CHECK(std::ranges::count(found, "ranks", &Comparison::varies) == 3);
}
