#pragma once
#include <cstdint>
#include <limits>
#include <span>

#include "convoke/mpi/communicator.hpp"

namespace convoke::train {

constexpr std::int64_t kDefaultTopK = 5;

/// What probabilities say beyond the most probable class.
struct Ranking {
  std::int64_t k = kDefaultTopK;
  /// Share of samples whose class is among the k most probable; NaN unless there are more than k classes.
  double top_k_accuracy = std::numeric_limits<double>::quiet_NaN();
  /// Of two classes that of the second, else the mean of one versus rest; NaN if a class has no samples.
  double roc_auc = std::numeric_limits<double>::quiet_NaN();
};

/// Of samples that the ranks of `group` share: `probabilities` (samples, classes) and `truth` of this rank's
/// part. Pairs are counted exactly, by one rank for each class, in memory for the scores of one class at a
/// time; the same for any number of ranks, on all of them. `k`: 0 for none. Collective.
Ranking rank(std::span<const double> probabilities, std::span<const std::int32_t> truth, std::int64_t classes,
             std::int64_t k, const mpi::Communicator& group);

}  // namespace convoke::train
