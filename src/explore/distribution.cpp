#include "convoke/explore/distribution.hpp"

#include <algorithm>
#include <cmath>
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

Moments moments(std::span<const float> values) {
  if (values.empty()) return {};
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const float x : values) sum += static_cast<double>(x);
  const double mean = sum / n;
  double squares = 0;
  for (const float x : values) squares += (static_cast<double>(x) - mean) * (static_cast<double>(x) - mean);
  const auto [least, largest] = std::ranges::minmax_element(values);
  return {static_cast<std::int64_t>(values.size()), mean, std::sqrt(squares / n), static_cast<double>(*least),
          static_cast<double>(*largest)};
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

}  // namespace convoke::explore
