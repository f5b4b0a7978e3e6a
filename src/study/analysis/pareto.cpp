#include "convoke/study/analysis/pareto.hpp"

#include <algorithm>

namespace convoke::study {
namespace {

bool dominates(const ParetoPoint& a, const ParetoPoint& b) {
  const bool as_good = a.seconds <= b.seconds && a.cost <= b.cost && a.accuracy >= b.accuracy;
  return as_good && (a.seconds < b.seconds || a.cost < b.cost || a.accuracy > b.accuracy);
}

// Returns null for a cell without a place in the figure.
const Statistics* accuracy_of(const MeasuredCell* cell) {
  return cell == nullptr || is_oversubscribed(cell->marks) ? nullptr : cell->find("accuracy");
}

}  // namespace

std::vector<ParetoPoint> pareto(std::span<const MeasuredCell> cells, std::span<const Cost> costs) {
  std::vector<ParetoPoint> points;
  for (const Cost& cost : costs) {
    const MeasuredCell* cell = cell_at(cells, cost.at);
    if (const Statistics* accuracy = accuracy_of(cell)) {
      points.push_back(
          {cost.at, cost.machine, cost.terms, cost.seconds, cost.cost, accuracy->mean, cell->marks});
    }
  }
  for (const MeasuredCell& cell : cells) {
    const Statistics *accuracy = accuracy_of(&cell), *makespan = cell.find("makespan_seconds"),
                     *core_seconds = cell.find("core_seconds");
    if (!costs.empty() || accuracy == nullptr || makespan == nullptr || core_seconds == nullptr) continue;
    points.push_back({cell.at, "", "", makespan->mean, core_seconds->mean, accuracy->mean, cell.marks});
  }
  for (ParetoPoint& point : points) {
    point.optimal =
        std::ranges::none_of(points, [&](const ParetoPoint& other) { return dominates(other, point); });
  }
  return points;
}

}  // namespace convoke::study
