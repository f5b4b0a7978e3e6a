#include "convoke/explore/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace convoke::explore {
namespace {

constexpr double kWhisker = 0.05;

// Returns the value at place `rank` (0-based, may be a fraction) of the sorted values; at(i) is the i-th.
template <class At>
double value_at_rank(double rank, std::int64_t count, const At& at) {
  const auto below = static_cast<std::int64_t>(std::floor(rank));
  const double lower = at(below);
  const double fraction = rank - static_cast<double>(below);
  return below + 1 < count ? lower + fraction * (at(below + 1) - lower) : lower;
}

template <class At>
BoxPlot box_of(std::int64_t count, const At& at) {
  if (count == 0) return {};
  const auto quantile = [&](double q) {
    return value_at_rank(q * static_cast<double>(count - 1), count, at);
  };
  return {count,         at(0),          quantile(kWhisker),     quantile(0.25),
          quantile(0.5), quantile(0.75), quantile(1 - kWhisker), at(count - 1)};
}

}  // namespace

BoxPlot box_plot(std::vector<float>& values) {
  std::ranges::sort(values);
  return box_of(static_cast<std::int64_t>(values.size()),
                [&](std::int64_t i) { return static_cast<double>(values[static_cast<std::size_t>(i)]); });
}

BoxPlot box_plot(const ByteCounts& counts) {
  std::array<std::int64_t, 256> up_to{};  // number of values that are at most this one
  std::partial_sum(counts.begin(), counts.end(), up_to.begin());
  return box_of(up_to.back(), [&](std::int64_t i) {
    return static_cast<double>(std::upper_bound(up_to.begin(), up_to.end(), i) - up_to.begin());
  });
}

//   mean = sum c x / n,   standard deviation = sqrt(sum c x^2 / n - mean^2)   in whole numbers until division
Moments moments(const ByteCounts& counts) {
  std::int64_t n = 0;
  std::int64_t sum = 0;
  std::int64_t squares = 0;
  for (std::int64_t x = 0; x < 256; ++x) {
    const std::int64_t count = counts[static_cast<std::size_t>(x)];
    n += count;
    sum += count * x;
    squares += count * x * x;
  }
  if (n == 0) return {};
  const double mean = static_cast<double>(sum) / static_cast<double>(n);
  const double variance = static_cast<double>(squares) / static_cast<double>(n) - mean * mean;
  const auto seen = [](std::int64_t count) { return count > 0; };
  const auto first = std::ranges::find_if(counts, seen) - counts.begin();
  const auto last = 255 - (std::find_if(counts.rbegin(), counts.rend(), seen) - counts.rbegin());
  return {n, mean, std::sqrt(std::max(0.0, variance)), static_cast<double>(first), static_cast<double>(last)};
}

Histogram histogram(std::span<const float> values, std::size_t bins) {
  if (values.empty()) return {};
  const auto [least, largest] = std::ranges::minmax_element(values);
  const auto begin = static_cast<double>(*least);
  const double range = static_cast<double>(*largest) - begin;
  if (!(range > 0)) return {begin, 1, {static_cast<std::int64_t>(values.size())}};
  Histogram result{begin, range / static_cast<double>(bins), std::vector<std::int64_t>(bins)};
  for (const float x : values) {
    const auto bin = static_cast<std::size_t>((static_cast<double>(x) - begin) / result.width);
    ++result.counts[std::min(bin, bins - 1)];  // the largest value belongs to the last bin
  }
  return result;
}

Histogram histogram_of_whole(std::span<const float> values, double begin, std::size_t bins) {
  if (values.empty()) return {};
  const double last = static_cast<double>(*std::ranges::max_element(values)) - begin;
  const double width = std::max(1.0, std::ceil((last + 1) / static_cast<double>(bins)));
  Histogram result{begin, width, std::vector<std::int64_t>(static_cast<std::size_t>(last / width) + 1)};
  for (const float x : values) {
    ++result.counts[static_cast<std::size_t>((static_cast<double>(x) - begin) / width)];
  }
  return result;
}

namespace {

constexpr std::int64_t kLeastCount = 20;  // the approximations hold from there on
constexpr double kNoDeviation = 1e-12;    // the deviation of equal numbers, relative to their mean

/// Central moments: mean of (x - mean)^k.
struct CentralMoments {
  double mean = 0, second = 0, third = 0, fourth = 0;
};

//   Y = g sqrt((n + 1)(n + 3) / (6 (n - 2)))                    g: skewness
//   Z = d asinh(Y / a)
double skewness_deviate(double skewness, double n) {
  const double y = skewness * std::sqrt((n + 1) * (n + 3) / (6 * (n - 2)));
  const double beta = 3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9));
  const double w2 = -1 + std::sqrt(2 * (beta - 1));
  const double a = std::sqrt(2 / (w2 - 1));
  return std::asinh(y / a) / std::sqrt(0.5 * std::log(w2));
}

//   x = (b - E b) / sqrt(var b)                                  b: fourth standardized moment
//   Z = (1 - 2 / (9 A) - cbrt((1 - 2 / A) / (1 + x sqrt(2 / (A - 4))))) / sqrt(2 / (9 A))
double kurtosis_deviate(double moment, double n) {
  const double expected = 3 * (n - 1) / (n + 1);
  const double variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) * (n + 1) * (n + 3) * (n + 5));
  const double x = (moment - expected) / std::sqrt(variance);
  const double root_beta = 6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9)) *
                           std::sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)));
  const double a = 6 + 8 / root_beta * (2 / root_beta + std::sqrt(1 + 4 / (root_beta * root_beta)));
  const double base = (1 - 2 / a) / (1 + x * std::sqrt(2 / (a - 4)));
  return (1 - 2 / (9 * a) - std::cbrt(base)) / std::sqrt(2 / (9 * a));
}

// The sum of two squared normal deviates has the distribution chi squared with 2 degrees of freedom, whose
// tail is exp(-K / 2).
Normality test_of(std::int64_t count, const CentralMoments& moments) {
  constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
  Normality test{.count = count, .statistic = kUndefined, .p = kUndefined};
  if (moments.second <= kNoDeviation * kNoDeviation * moments.mean * moments.mean) return test;
  test.skewness = moments.third / std::pow(moments.second, 1.5);
  test.kurtosis = moments.fourth / (moments.second * moments.second) - 3;
  if (count < kLeastCount) return test;
  const auto n = static_cast<double>(count);
  const double skewness = skewness_deviate(test.skewness, n),
               kurtosis = kurtosis_deviate(test.kurtosis + 3, n);
  test.statistic = skewness * skewness + kurtosis * kurtosis;
  test.p = std::exp(-test.statistic / 2);
  return test;
}

// `each(visit)` calls visit(value, how often) for all values.
template <class Each>
Normality test_each(const Each& each) {
  double sum = 0;
  std::int64_t count = 0;
  each([&](double value, std::int64_t times) {
    sum += value * static_cast<double>(times);
    count += times;
  });
  if (count == 0) return test_of(0, {});
  const auto n = static_cast<double>(count);
  CentralMoments moments{.mean = sum / n};
  each([&](double value, std::int64_t times) {
    const double d = value - moments.mean, square = d * d, weight = static_cast<double>(times) / n;
    moments.second += weight * square, moments.third += weight * square * d,
        moments.fourth += weight * square * square;
  });
  return test_of(count, moments);
}

}  // namespace

Normality normality(const ByteCounts& counts) {
  return test_each([&](const auto& visit) {
    for (std::size_t value = 0; value < counts.size(); ++value)
      visit(static_cast<double>(value), counts[value]);
  });
}

Normality normality(std::span<const double> values) {
  return test_each([&](const auto& visit) {
    for (const double value : values) visit(value, 1);
  });
}

}  // namespace convoke::explore
