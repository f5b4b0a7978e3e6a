#pragma once
#include <cstdint>
#include <limits>
#include <vector>

namespace convoke::run {

/// The best validation so far and the evaluations since: the state of early stopping, which a checkpoint
/// stores.
struct BestSoFar {
  std::int64_t evaluations = 0;  ///< evaluations that counted; 0: there is no best yet
  std::int64_t wait = 0;         ///< evaluations since the best
  std::int64_t updates = 0;      ///< steps since the start, at the best
  double loss = std::numeric_limits<double>::quiet_NaN();
  double accuracy = std::numeric_limits<double>::quiet_NaN();
  bool stopped = false;           ///< training has stopped early
  std::vector<float> parameters;  ///< canonical; stored only if they will be restored
};

}  // namespace convoke::run
