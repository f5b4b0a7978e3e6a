#pragma once
#include <cstdint>
#include <limits>
#include <vector>

namespace convoke::run {

/// The best validation so far, and how long ago it was: what early stopping remembers, and a checkpoint
/// holds.
struct BestSoFar {
  std::int64_t evaluations = 0;  ///< that counted; with 0 there is no best yet
  std::int64_t wait = 0;         ///< of them, since the best
  std::int64_t updates = 0;      ///< steps since the start, at the best
  double loss = std::numeric_limits<double>::quiet_NaN();
  double accuracy = std::numeric_limits<double>::quiet_NaN();
  bool stopped = false;           ///< there is nothing more to train
  std::vector<float> parameters;  ///< canonical; only kept where they will be restored
};

}  // namespace convoke::run
