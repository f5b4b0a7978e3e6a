#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "convoke/mpi/communicator.hpp"

namespace convoke::train {

constexpr std::int64_t kDefaultTopK = 5;

/// Measures of the ranking of classes by probability, beyond the most probable class.
struct Ranking {
  std::int64_t k = kDefaultTopK;
  /// Share of samples whose true class is among the k most probable; NaN unless there are more than k
  /// classes.
  double top_k_accuracy = std::numeric_limits<double>::quiet_NaN();
  /// Area under the ROC curve: of the second class if there are two, otherwise the mean of one versus rest;
  /// NaN if a class has no samples.
  double roc_auc = std::numeric_limits<double>::quiet_NaN();
  /// ROC curves at the points of metrics::roc_grid: of the second class if there are two, otherwise of each
  /// class against the rest. An undefined curve is NaN. (curves, points)
  std::vector<std::vector<double>> roc_curves = {};
};

/// Ranks samples that the ranks of `group` share: `probabilities` (samples, classes) and `truth` are this
/// rank's part. Pairs are counted exactly, by one rank for each class, with memory for the scores of one
/// class at a time. The result is the same for any number of ranks, and on all of
/// them. `k`: 0 for none. Collective.
Ranking rank(std::span<const double> probabilities, std::span<const std::int32_t> truth, std::int64_t classes,
             std::int64_t k, const mpi::Communicator& group);

}  // namespace convoke::train
