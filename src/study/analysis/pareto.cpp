#include "convoke/study/analysis/pareto.hpp"

#include <algorithm>

namespace convoke::study {
namespace {

bool dominates(const ParetoPoint& a, const ParetoPoint& b) {
  const bool as_good = a.seconds <= b.seconds && a.cost <= b.cost && a.accuracy >= b.accuracy;
  return as_good && (a.seconds < b.seconds || a.cost < b.cost || a.accuracy > b.accuracy);
}

// Returns null for a configuration without a place in the figure.
const Statistics* accuracy_of(const MeasuredConfiguration* configuration) {
  return configuration == nullptr || is_oversubscribed(configuration->marks)
             ? nullptr
             : configuration->find("accuracy");
}

}  // namespace

std::vector<ParetoPoint> pareto(std::span<const MeasuredConfiguration> configurations,
                                std::span<const Cost> costs) {
  std::vector<ParetoPoint> points;
  for (const Cost& cost : costs) {
    const MeasuredConfiguration* configuration = configuration_at(configurations, cost.at);
    if (const Statistics* accuracy = accuracy_of(configuration)) {
      points.push_back(
          {cost.at, cost.machine, cost.terms, cost.seconds, cost.cost, accuracy->mean, configuration->marks});
    }
  }
  for (const MeasuredConfiguration& configuration : configurations) {
    const Statistics *accuracy = accuracy_of(&configuration),
                     *makespan = configuration.find("makespan_seconds"),
                     *core_seconds = configuration.find("core_seconds");
    if (!costs.empty() || accuracy == nullptr || makespan == nullptr || core_seconds == nullptr) continue;
    points.push_back(
        {configuration.at, "", "", makespan->mean, core_seconds->mean, accuracy->mean, configuration.marks});
  }
  for (ParetoPoint& point : points) {
    point.optimal =
        std::ranges::none_of(points, [&](const ParetoPoint& other) { return dominates(other, point); });
  }
  return points;
}

}  // namespace convoke::study
