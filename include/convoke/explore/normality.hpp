#pragma once
#include <cstdint>
#include <span>

#include "convoke/explore/distribution.hpp"

namespace convoke::explore {

/// The test of D'Agostino and Pearson: whether numbers may come from a normal distribution, by their skewness
/// and kurtosis together.
struct Normality {
  std::int64_t count = 0;
  double skewness = 0;   ///< third standardized moment; 0 for a normal distribution
  double kurtosis = 0;   ///< fourth standardized moment - 3; 0 for a normal distribution
  double statistic = 0;  ///< K squared; NaN for fewer than 20 or for equal numbers
  double p = 0;  ///< probability of so large a statistic if the distribution is normal; NaN as `statistic`
};

/// Tests counted values (of 8 bits), or numbers. Equal to scipy.stats.normaltest. R. D'Agostino, E. Pearson,
/// "Tests for departure from normality", Biometrika 60, 1973; the transforms to normal deviates: R.
/// D'Agostino, Biometrika 57, 1970 (skewness), and F. Anscombe, W. Glynn, Biometrika 70, 1983 (kurtosis).
Normality normality(const ByteCounts& counts);
Normality normality(std::span<const double> values);

}  // namespace convoke::explore
