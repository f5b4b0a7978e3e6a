#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace convoke::explore {

/// What a box plot shows: quartiles, whiskers to the 5th and 95th percentile, and both ends.
struct BoxPlot {
  std::int64_t count = 0;  ///< 0: nothing was seen, all numbers are 0
  double minimum = 0, low = 0, first_quartile = 0, median = 0, third_quartile = 0, high = 0, maximum = 0;
};

/// Of any numbers; quantiles between two of them lie on the line (NumPy's default). The order of `values` is
/// lost.
BoxPlot box_plot(std::vector<float>& values);

/// How often each value of 8 bits occurs.
using ByteCounts = std::array<std::int64_t, 256>;

/// Of the values counted.
BoxPlot box_plot(const ByteCounts& counts);

/// Mean and deviation (of the population), least and largest.
struct Moments {
  std::int64_t count = 0;
  double mean = 0, deviation = 0, minimum = 0, maximum = 0;
};
Moments moments(const ByteCounts& counts);
Moments moments(std::span<const float> values);

/// Counts in bins of equal width.
struct Histogram {
  double begin = 0;  ///< of the first bin
  double width = 1;  ///< of each
  std::vector<std::int64_t> counts = {};
};

/// `bins` bins from the least to the largest value; one bin if they are all equal, none if there are none.
Histogram histogram(std::span<const float> values, std::size_t bins);

}  // namespace convoke::explore
