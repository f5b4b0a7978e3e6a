#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "convoke/core/text.hpp"
#include "report/study/lines.hpp"
#include "report/study/sections.hpp"
#include "report/study/short_names.hpp"

// Results and costs of cells: accuracy by core-seconds, phases, prices.

namespace convoke::report {

namespace {

constexpr const char* kMarkNote = "A name that begins with ! belongs to a marked cell.";

}  // namespace

namespace {

// A point for each cell: its cost and accuracy.
Chart accuracy_by_cost(const study::Analysis& analysis) {
  const ShortNames names(analysis.cells);
  Chart chart{Chart::Kind::kScatter,
              "Accuracy by core-seconds",
              "Means of each cell, with 95 % intervals of the accuracy. Points higher up and further left "
              "are better.",
              "core-seconds",
              "accuracy, %",
              {{"core-seconds", "accuracy", "mode", "cell", "accuracy, from", "accuracy, to"}, {}}};
  chart.intervals.push_back({1, 4, 5});
  chart.most = 100;
  for (const study::MeasuredCell& cell : analysis.cells) {
    const study::Statistics* cost = cell.find("core_seconds");
    const study::Statistics* accuracy = cell.find("accuracy");
    if (cost == nullptr || accuracy == nullptr) continue;
    const std::string mode = cell.at.mode.empty() ? "all" : cell.at.mode;
    const auto end = [&](double study::Interval::*which) {
      return accuracy->interval ? Cell::number(100 * (*accuracy->interval).*which, 5) : Cell("–");
    };
    const std::string group = cell.marks.empty() ? mode : fmt::format("{}, {}", mode, join(cell.marks));
    if (group != mode) chart.apart[group] = mode;
    chart.table.rows.push_back({Cell::number(cost->mean, 5), Cell::number(100 * accuracy->mean, 5), group,
                                names.cell(cell.at), end(&study::Interval::low),
                                end(&study::Interval::high)});
  }
  return chart;
}

// A line for each family of cells with the largest fraction: more ranks than cores change no accuracy, but
// their cells are marked everywhere.
Chart accuracy_by_workers(const study::Analysis& analysis) {
  const std::vector<study::MeasuredCell> cells = whole_cells(analysis);
  const ShortNames names(cells);
  // The same number of workers may be ranks or threads, so each number of threads has a line.
  const bool several_threads = std::ranges::any_of(
      cells, [&](const study::MeasuredCell& cell) { return cell.at.threads != cells.front().at.threads; });
  const auto name_of = [&](const study::Coordinates& at) {
    return several_threads ? fmt::format("{}, {}", names.curve(at), counted(at.threads, "thread"))
                           : names.curve(at);
  };
  Lines lines;
  for (const study::MeasuredCell& cell : cells) {
    const study::Statistics* accuracy = cell.find("accuracy");
    if (accuracy == nullptr || cell.at.workers() == 0) continue;
    std::optional<study::Interval> ends = accuracy->interval;
    if (ends) ends = study::Interval{100 * ends->low, 100 * ends->high};
    add_point(lines, name_of(cell.at), cell.marks,
              {static_cast<double>(cell.at.workers()), 100 * accuracy->mean, ends});
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
  constexpr std::size_t kMostCells = 40;
  Chart chart{Chart::Kind::kBar,
              "Phases by cell",
              "Seconds, means over ranks and runs. " + std::string(kMarkNote) + of_fraction(analysis),
              "",
              "seconds",
              {{"cell"}, {}}};
  std::vector<std::string_view> phases;
  for (const study::Quantity& quantity : study::kQuantities) {
    const bool measured =
        std::any_of(analysis.cells.begin(), analysis.cells.end(),
                    [&](const study::MeasuredCell& cell) { return cell.find(quantity.name) != nullptr; });
    if (!measured || quantity.kind != study::Quantity::Kind::kPhase) continue;
    phases.push_back(quantity.name);
    chart.table.columns.emplace_back(quantity.title);
  }
  const std::vector<study::MeasuredCell> cells = whole_cells(analysis);
  if (phases.empty() || cells.size() > kMostCells) return;
  const ShortNames names(cells);
  for (const study::MeasuredCell& cell : cells) {
    std::vector<Cell> row{names.cell(cell)};
    for (const std::string_view phase : phases) {
      const study::Statistics* seconds = cell.find(phase);
      row.push_back(seconds == nullptr ? Cell("–") : Cell::seconds(seconds->mean));
    }
    chart.table.rows.push_back(std::move(row));
  }
  page.section("Phases");
  page.add(chart);
}

// One group of bars for each cell, one colour for each machine and its terms of use.
void add_costs(Page& page, const study::Analysis& analysis) {
  if (analysis.costs.empty()) return;
  Chart chart{Chart::Kind::kBar,
              "Cost of one training",
              "Nodes x price per hour x time, including restarts, with 95 % intervals. " +
                  std::string(kMarkNote) + of_fraction(analysis),
              "",
              analysis.currency.empty() ? "price" : "price, " + analysis.currency,
              {{"cell"}, {}}};
  std::vector<std::string> offers, cells;
  const double whole = largest_fraction(analysis);
  const ShortNames names(whole_cells(analysis));
  const auto name_of = [&](const study::Cost& cost) {
    const auto cell = std::find_if(analysis.cells.begin(), analysis.cells.end(),
                                   [&](const study::MeasuredCell& each) { return each.at == cost.at; });
    return cell == analysis.cells.end() ? names.cell(cost.at) : names.cell(*cell);
  };
  const auto offer_of = [](const study::Cost& cost) { return cost.machine + ", " + cost.terms; };
  const auto add_once = [](std::vector<std::string>& list, const std::string& name) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  };
  for (const study::Cost& cost : analysis.costs) {
    add_once(offers, offer_of(cost));
    if (cost.at.fraction == whole) add_once(cells, name_of(cost));
  }
  for (const std::string& offer : offers) {
    const std::size_t column = chart.table.columns.size();
    for (const char* end : {"", ", from", ", to"}) chart.table.columns.push_back(offer + end);
    chart.intervals.push_back({column, column + 1, column + 2});
  }
  for (const std::string& cell : cells) {
    std::vector<Cell> row{cell};
    for (const std::string& offer : offers) {
      const auto cost = std::find_if(analysis.costs.begin(), analysis.costs.end(), [&](const study::Cost& c) {
        return offer_of(c) == offer && c.at.fraction == whole && name_of(c) == cell;
      });
      const bool there = cost != analysis.costs.end(), known = there && cost->interval;
      row.push_back(there ? Cell::number(cost->cost) : Cell("–"));
      row.push_back(known ? Cell::number(cost->interval->low) : Cell("–"));
      row.push_back(known ? Cell::number(cost->interval->high) : Cell("–"));
    }
    chart.table.rows.push_back(std::move(row));
  }
  page.section("Cost");
  page.add(chart);
}

}  // namespace convoke::report
