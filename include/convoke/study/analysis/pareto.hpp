#pragma once
#include <span>
#include <string>
#include <vector>

#include "convoke/study/analysis/cost.hpp"
#include "convoke/study/tables/measured_configuration.hpp"

namespace convoke::study {

/// A measured training by its time, its cost and its accuracy (means).
struct ParetoPoint {
  Coordinates at;
  std::string machine, terms;  ///< as in Cost; "" if the cost is in core-seconds
  double seconds = 0;          ///< expected, including restarts
  double cost = 0;
  double accuracy = 0;             ///< of the test samples, [0, 1]
  std::vector<std::string> marks;  ///< of the configuration
  /// Pareto-optimal: no other point is at least as good in all three and better in one.
  bool optimal = false;
};

/// Returns a point for each cost of a configuration with an accuracy; without costs, for each configuration,
/// by its core-seconds. Configurations with more workers than cores are left out.
std::vector<ParetoPoint> pareto(std::span<const MeasuredConfiguration> configurations,
                                std::span<const Cost> costs);

}  // namespace convoke::study
