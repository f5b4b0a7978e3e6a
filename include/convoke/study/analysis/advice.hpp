#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/study/analysis/scaling.hpp"
#include "convoke/study/tables/cells.hpp"

namespace convoke::study {

/// What is wanted of a run.
struct Wishes {
  std::optional<double> deadline_seconds;     ///< it is over by then,
  std::optional<double> budget_core_seconds;  ///< takes no more than that,
  std::optional<double> accuracy;             ///< and is at least as good
  bool empty() const { return !deadline_seconds && !budget_core_seconds && !accuracy; }
};

/// A number of workers that fulfils all wishes, or why there is none.
struct Recommendation {
  std::string curve;  ///< "net, sync, 1/4 of the samples"
  bool possible = false;
  std::string reason;      ///< if not, why; else what decided
  Coordinates at;          ///< ranks and threads; of a prediction, threads are those of the base
  bool predicted = false;  ///< by Amdahl's law, not measured
  double seconds = 0;
  std::optional<Interval> seconds_interval;  ///< of the mean if measured, else of one new run
  double core_seconds = 0;
  std::optional<Statistics> accuracy;
  std::vector<std::string> marks;  ///< of the cell, or of those that the law is fitted to
};

/// For each curve of makespans: with a deadline the fewest workers that meet it, otherwise the fastest within
/// the budget (or that reach the accuracy). Upper ends of the intervals of times count, lower ones of those
/// of accuracies, means where there is none. Cells that were measured come first; where none will do,
/// Amdahl's law is asked up to `up_to` workers (0: not). Oversubscribed cells and predictions have no
/// accuracy of their own: one that is wished is asked of measured cells only.
std::vector<Recommendation> recommend(std::span<const Curve> curves, std::span<const MeasuredCell> cells,
                                      const Wishes& wishes, std::int64_t up_to);

}  // namespace convoke::study
