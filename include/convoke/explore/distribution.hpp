#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace convoke::explore {

/// The numbers of a box plot: quartiles, whiskers to the 5th and 95th percentile, and both ends.
struct BoxPlot {
  std::int64_t count = 0;  ///< 0: no values, all numbers are 0
  double minimum = 0, low = 0, first_quartile = 0, median = 0, third_quartile = 0, high = 0, maximum = 0;
};

/// Returns the box plot of numbers; quantiles are interpolated linearly (NumPy's default). Reorders `values`.
BoxPlot box_plot(std::vector<float>& values);

/// The frequency of each value of 8 bits.
using ByteCounts = std::array<std::int64_t, 256>;

/// Returns the box plot of the counted values.
BoxPlot box_plot(const ByteCounts& counts);

/// Mean and standard deviation (of the population), smallest and largest value.
struct Moments {
  std::int64_t count = 0;
  double mean = 0, deviation = 0, minimum = 0, maximum = 0;
};
Moments moments(const ByteCounts& counts);

/// Counts in bins of equal width.
struct Histogram {
  double begin = 0;  ///< of the first bin
  double width = 1;  ///< of each bin
  std::vector<std::int64_t> counts = {};
};

/// Returns `bins` bins from the smallest to the largest value; one bin if all values are equal, no bin if
/// there are no values.
Histogram histogram(std::span<const float> values, std::size_t bins);

/// Returns at most `bins` bins of a whole width for whole numbers, from `begin`, which is at most the
/// smallest, to the largest; no bin if there are no values.
Histogram histogram_of_whole(std::span<const float> values, double begin, std::size_t bins);

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
