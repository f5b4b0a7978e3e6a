#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/study/analysis/scaling.hpp"
#include "convoke/study/tables/measured_configuration.hpp"

namespace convoke::study {

/// The requirements for a recommended run; absent values are not required.
struct Requirements {
  std::optional<double> deadline_seconds = {};     ///< longest makespan,
  std::optional<double> budget_core_seconds = {};  ///< most core-seconds,
  std::optional<double> accuracy = {};             ///< least accuracy
  bool empty() const { return !deadline_seconds && !budget_core_seconds && !accuracy; }
};

/// A number of workers that fulfils all requirements, or why there is none.
struct Recommendation {
  std::string curve;  ///< "net, sync, 1/4 of the samples"
  bool possible = false;
  std::string reason;      ///< why it is not possible, otherwise what decided
  Coordinates at;          ///< ranks and threads; a prediction has the threads of the base
  bool predicted = false;  ///< by Amdahl's law, not measured
  double seconds = 0;
  std::optional<Interval> seconds_interval;  ///< of the mean if measured, otherwise of one new run
  double core_seconds = 0;
  std::optional<Statistics> accuracy;
  std::vector<std::string> marks;  ///< of the configuration, or of those to which the law is fitted
};

/// Recommends for each curve of makespans: with a deadline the fewest workers that meet it, otherwise the
/// fastest within the budget (or that reach the accuracy). The upper end of the interval of a time
/// counts, the lower end of an accuracy, and the mean if there is no interval. Measured configurations come
/// first; if none fulfils the requirements, Amdahl's law predicts up to `up_to` workers (0: no prediction).
/// Oversubscribed configurations and predictions have no accuracy: a required accuracy is checked only in
/// measured configurations.
std::vector<Recommendation> recommend(std::span<const Curve> curves,
                                      std::span<const MeasuredConfiguration> configurations,
                                      const Requirements& requirements, std::int64_t up_to);

}  // namespace convoke::study
