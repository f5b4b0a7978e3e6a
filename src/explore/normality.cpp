#include "convoke/explore/normality.hpp"

#include <cmath>
#include <limits>

namespace convoke::explore {
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
