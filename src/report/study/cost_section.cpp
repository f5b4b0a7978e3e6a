#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "convoke/core/text.hpp"
#include "report/study/sections.hpp"

// Results and costs of configurations: accuracy by core-seconds, phases, prices; time, cost and accuracy in
// one figure.

namespace convoke::report {
namespace {

constexpr const char* kMarkNote = "A name that begins with ! belongs to a marked configuration.";

// A point for each configuration: its cost and accuracy.
Chart accuracy_by_cost(const study::Analysis& analysis) {
  const ShortNames names(analysis.configurations);
  Chart chart{
      Chart::Kind::kScatter,
      "Accuracy by core-seconds",
      "Means of each configuration, with 95 % intervals of the accuracy. Points higher up and further left "
      "are better.",
      "core-seconds",
      "accuracy, %",
      {{"core-seconds", "accuracy", "mode", "configuration", "accuracy, from", "accuracy, to"}, {}}};
  chart.intervals.push_back({1, 4, 5});
  chart.most = 100;
  for (const study::MeasuredConfiguration& configuration : analysis.configurations) {
    const study::Statistics* cost = configuration.find("core_seconds");
    const study::Statistics* accuracy = configuration.find("accuracy");
    if (cost == nullptr || accuracy == nullptr) continue;
    const std::string mode = configuration.at.mode.empty() ? "all" : configuration.at.mode;
    const auto& ends = accuracy->interval;
    const std::string group =
        configuration.marks.empty() ? mode : fmt::format("{}, {}", mode, join(configuration.marks));
    if (group != mode) chart.apart[group] = mode;
    chart.table.rows.push_back({Cell::number(cost->mean, 5), Cell::number(100 * accuracy->mean, 5), group,
                                names.configuration(configuration.at),
                                Cell::number(ends ? 100 * ends->low : NAN, 5),
                                Cell::number(ends ? 100 * ends->high : NAN, 5)});
  }
  return chart;
}

// A line for each family of configurations with the largest fraction: more ranks than cores change no
// accuracy, but their configurations are marked everywhere.
Chart accuracy_by_workers(const study::Analysis& analysis) {
  const std::vector<study::MeasuredConfiguration> configurations = whole_configurations(analysis);
  const ShortNames names(configurations);
  // The same number of workers may be ranks or threads, so each number of threads has a line.
  const bool several_threads =
      std::ranges::any_of(configurations, [&](const study::MeasuredConfiguration& configuration) {
        return configuration.at.threads != configurations.front().at.threads;
      });
  const auto name_of = [&](const study::Coordinates& at) {
    return several_threads ? fmt::format("{}, {}", names.curve(at), counted(at.threads, "thread"))
                           : names.curve(at);
  };
  Lines lines;
  for (const study::MeasuredConfiguration& configuration : configurations) {
    const study::Statistics* accuracy = configuration.find("accuracy");
    if (accuracy == nullptr || configuration.at.workers() == 0) continue;
    std::optional<study::Interval> ends = accuracy->interval;
    if (ends) ends = study::Interval{100 * ends->low, 100 * ends->high};
    add_point(lines, name_of(configuration.at), configuration.marks,
              {static_cast<double>(configuration.at.workers()), 100 * accuracy->mean, ends});
  }
  Chart chart =
      line_chart("Accuracy by workers",
                 "Means over the runs, on the test samples, with 95 % intervals. Workers: ranks x threads." +
                     of_fraction(analysis),
                 "workers", "accuracy, %", lines);
  chart.from_zero = false;
  chart.most = 100;
  chart.of_workers = true;
  return chart;
}

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

void add_accuracy(Page& page, const study::Analysis& analysis) {
  std::vector<Chart> charts;
  for (Chart& chart : std::vector{accuracy_by_workers(analysis), accuracy_by_cost(analysis)}) {
    if (chart.table.rows.size() > 1) charts.push_back(std::move(chart));
  }
  if (charts.empty()) return;
  page.section("Accuracy and cost");
  page.side_by_side(charts);
}

void add_phases(Page& page, const study::Analysis& analysis) {
  constexpr std::size_t kMostConfigurations = 40;
  Chart chart{Chart::Kind::kBar,
              "Phases by configuration",
              "Seconds, means over ranks and runs. " + std::string(kMarkNote) + of_fraction(analysis),
              "",
              "seconds",
              {{"configuration"}, {}}};
  std::vector<std::string_view> phases;
  for (const study::Quantity& quantity : study::kQuantities) {
    const bool measured =
        std::ranges::any_of(analysis.configurations, [&](const study::MeasuredConfiguration& configuration) {
          return configuration.find(quantity.name) != nullptr;
        });
    if (!measured || quantity.kind != study::Quantity::Kind::kPhase) continue;
    phases.push_back(quantity.name);
    chart.table.columns.emplace_back(quantity.title);
  }
  const std::vector<study::MeasuredConfiguration> configurations = whole_configurations(analysis);
  if (phases.empty() || configurations.size() > kMostConfigurations) return;
  const ShortNames names(configurations);
  for (const study::MeasuredConfiguration& configuration : configurations) {
    std::vector<Cell> row{names.configuration(configuration)};
    for (const std::string_view phase : phases) {
      const study::Statistics* seconds = configuration.find(phase);
      row.push_back(Cell::seconds(seconds == nullptr ? NAN : seconds->mean));
    }
    chart.table.rows.push_back(std::move(row));
  }
  page.section("Phases");
  page.add(chart);
}

// One group of bars for each configuration, one color for each machine and its terms of use.
void add_costs(Page& page, const study::Analysis& analysis) {
  if (analysis.costs.empty()) return;
  Chart chart{Chart::Kind::kBar,
              "Cost of one training",
              "Nodes x price per hour x time, including restarts, with 95 % intervals. " +
                  std::string(kMarkNote) + of_fraction(analysis),
              "",
              analysis.currency.empty() ? "price" : "price, " + analysis.currency,
              {{"configuration"}, {}}};
  std::vector<std::string> offers, configurations;
  const double whole = largest_fraction(analysis);
  const ShortNames names(whole_configurations(analysis));
  const auto name_of = [&](const study::Cost& cost) {
    return names.configuration(cost.at, analysis.configurations);
  };
  const auto offer_of = [](const study::Cost& cost) { return cost.machine + ", " + cost.terms; };
  const auto add_once = [](std::vector<std::string>& list, const std::string& name) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  };
  for (const study::Cost& cost : analysis.costs) {
    add_once(offers, offer_of(cost));
    if (cost.at.fraction == whole) add_once(configurations, name_of(cost));
  }
  for (const std::string& offer : offers) {
    const std::size_t column = chart.table.columns.size();
    for (const char* end : {"", ", from", ", to"}) chart.table.columns.push_back(offer + end);
    chart.intervals.push_back({column, column + 1, column + 2});
  }
  for (const std::string& configuration : configurations) {
    std::vector<Cell> row{configuration};
    for (const std::string& offer : offers) {
      const auto cost = std::ranges::find_if(analysis.costs, [&](const study::Cost& c) {
        return offer_of(c) == offer && c.at.fraction == whole && name_of(c) == configuration;
      });
      const bool there = cost != analysis.costs.end(), known = there && cost->interval;
      row.insert(row.end(),
                 {Cell::number(there ? cost->cost : NAN), Cell::number(known ? cost->interval->low : NAN),
                  Cell::number(known ? cost->interval->high : NAN)});
    }
    chart.table.rows.push_back(std::move(row));
  }
  page.section("Cost");
  page.add(chart);
}

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
