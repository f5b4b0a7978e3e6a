#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/study/sections.hpp"

// Time, cost and accuracy of every configuration in one figure.

namespace convoke::report {
namespace {

/// Equal ranges of accuracies in %, of a round width: each is a series.
class Bands {
 public:
  explicit Bands(const std::vector<study::ParetoPoint>& points) {
    constexpr double kMost = 4;
    const auto [low, high] = std::ranges::minmax(points, {}, &study::ParetoPoint::accuracy);
    const double range = 100 * (high.accuracy - low.accuracy);
    if (range <= 0) return;
    const double unit = std::pow(10, std::floor(std::log10(range / kMost)));
    for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
      width_ = factor * unit;
      if (number_of(high.accuracy) - number_of(low.accuracy) < kMost) break;
    }
  }

  /// Returns "98.5 to 99 %"; "98.7 %" if all accuracies are equal.
  std::string of(double accuracy) const {
    if (width_ == 0) return fmt::format("{:.4g} %", 100 * accuracy);
    const double low = number_of(accuracy) * width_;
    return fmt::format("{:.5g} to {:.5g} %", low, low + width_);
  }

 private:
  // An accuracy on the border of two bands belongs to the upper one, also if rounding puts it just below.
  double number_of(double accuracy) const { return std::floor(100 * accuracy / width_ + 1e-9); }

  double width_ = 0;
};

}  // namespace

void add_pareto(Page& page, const study::Analysis& analysis) {
  const std::vector<study::ParetoPoint>& points = analysis.pareto;
  if (points.size() < 2) return;
  const bool priced = !analysis.costs.empty();
  const std::string unit = !priced                     ? "core-seconds"
                           : analysis.currency.empty() ? "cost"
                                                       : "cost, " + analysis.currency;
  const ShortNames names(analysis.configurations);
  const Bands bands(points);
  const auto name_of = [&](const study::ParetoPoint& point) {
    const std::string name = names.configuration(point.at, analysis.configurations);
    return point.machine.empty() ? name : fmt::format("{} on {}, {}", name, point.machine, point.terms);
  };
  Chart chart{Chart::Kind::kScatter,
              "Cost, time and accuracy",
              "A point for each configuration, its color for the accuracy. Filled points are "
              "Pareto-optimal: no other is at least as good in cost, time and accuracy, and better in one. "
              "Hollow points are not. Configurations with more workers than cores are left out; ! marks "
              "other marked configurations.",
              "time, s",
              unit,
              {{"time", "cost", "accuracy", "configuration", "accuracy, %"}, {}}};
  Table table{{"configuration", "time (s)", unit, "accuracy (%)"}, {}};
  for (const study::ParetoPoint& point : points) {
    const std::string band = bands.of(point.accuracy);
    const std::string group = point.optimal ? band : band + ", not optimal";
    if (!point.optimal) chart.apart[group] = band;
    const Cell seconds = Cell::number(point.seconds, 5), cost = Cell::number(point.cost, 5),
               accuracy = Cell::number(100 * point.accuracy, 5);
    chart.table.rows.push_back({seconds, cost, group, name_of(point), accuracy});
    if (point.optimal) table.rows.push_back({name_of(point), seconds, cost, accuracy});
  }
  std::ranges::sort(table.rows, {}, [](const std::vector<Cell>& row) { return row[2].as_double(); });
  page.section("Cost, time and accuracy");
  page.add(chart);
  page.heading("Pareto-optimal configurations");
  page.add(table);
}

}  // namespace convoke::report
