#include "convoke/study/analysis/statistics.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <unsupported/Eigen/SpecialFunctions>

#include "convoke/core/error.hpp"

namespace convoke::study {
namespace {

// Returns the squared standard error of a mean.
double error_squared(const Statistics& s) { return s.deviation * s.deviation / static_cast<double>(s.count); }

// Returns the degrees of freedom of a sum of two squared standard errors (Satterthwaite): (u + v)^2 /
// (u^2/(n-1) + v^2/(m-1)).
double satterthwaite(double u, std::int64_t n, double v, std::int64_t m) {
  const double sum = u + v;
  return sum * sum / (u * u / static_cast<double>(n - 1) + v * v / static_cast<double>(m - 1));
}

// p decreases with t: bracketed, then halved until the bounds are neighboring numbers.
double find_student_t(double degrees) {
  constexpr double kOutside = 0.05;
  double low = 0, high = 2;
  while (student_p(high, degrees) > kOutside) high *= 2;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    (student_p(middle, degrees) > kOutside ? low : high) = middle;
  }
}

}  // namespace

//   P(|T| >= t) = I_{v / (v + t^2)}(v / 2, 1 / 2), with I the regularized incomplete beta function
double student_p(double t, double degrees) {
  if (!std::isfinite(t)) return 0;
  return Eigen::numext::betainc(degrees / 2, 0.5, degrees / (degrees + t * t));
}

// A search takes 0.1 ms, and a study asks again and again for the few degrees of its configurations.
double student_t(double degrees) {
  thread_local std::map<double, double> known;
  if (degrees != std::floor(degrees)) return find_student_t(degrees);
  const auto [found, is_new] = known.try_emplace(degrees);
  if (is_new) found->second = find_student_t(degrees);
  return found->second;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Statistics summarize(std::span<const double> values) {
  ensure(!values.empty(), "summarize needs at least one value");
  Statistics s;
  s.count = static_cast<std::int64_t>(values.size());
  const auto n = static_cast<double>(s.count);
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  s.median = median(sorted);
  if (sorted.front() == sorted.back()) {  // exact, while a mean could be rounded
    s.mean = sorted.front();
  } else {
    s.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / n;
    double squares = 0;
    for (const double value : sorted) squares += (value - s.mean) * (value - s.mean);
    s.deviation = std::sqrt(squares / (n - 1));
  }
  if (s.count < 2) return s;
  // mean +- t s / sqrt(n)
  const double half = student_t(n - 1) * s.deviation / std::sqrt(n);
  s.interval = Interval{s.mean - half, s.mean + half};
  if (s.mean != 0) s.relative_error = half / std::abs(s.mean);
  return s;
}

std::optional<std::int64_t> runs_needed(const Statistics& s, double target) {
  assert(target > 0);
  if (!s.relative_error) return {};
  if (*s.relative_error <= target) return 0;
  const double allowed = target * std::abs(s.mean) / s.deviation;  // largest t / sqrt(n)
  // For this many runs the quantile is that of the normal distribution; the incomplete beta function is slow.
  constexpr double kNormal = 1.959964, kMany = 1e4, kMost = 1e15;
  const double about = kNormal * kNormal / (allowed * allowed);
  if (!(about <= kMany)) return static_cast<std::int64_t>(std::min(about, kMost)) + 1 - s.count;
  const auto enough = [&](std::int64_t n) {
    return student_t(static_cast<double>(n - 1)) / std::sqrt(static_cast<double>(n)) <= allowed;
  };
  std::int64_t low = s.count, high = 2 * s.count;  // too few, enough
  while (!enough(high)) high *= 2;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high - s.count;
}

std::optional<WelchTest> welch_test(const Statistics& a, const Statistics& b) {
  if (a.count < 2 || b.count < 2) return {};
  const double u = error_squared(a), v = error_squared(b);
  WelchTest test;
  test.difference = a.mean - b.mean;
  if (u + v == 0) {
    test.t =
        test.difference == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), test.difference);
    test.degrees = static_cast<double>(a.count + b.count - 2);
    test.interval = {test.difference, test.difference};
    test.p = test.difference == 0 ? 1 : 0;
    return test;
  }
  test.degrees = satterthwaite(u, a.count, v, b.count);
  test.t = test.difference / std::sqrt(u + v);
  test.p = student_p(test.t, test.degrees);
  const double half = student_t(test.degrees) * std::sqrt(u + v);
  test.interval = {test.difference - half, test.difference + half};
  return test;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) { return p[i] < p[j]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    largest = std::max(largest, static_cast<double>(p.size() - k) * p[order[k]]);
    adjusted[order[k]] = std::min(1.0, largest);
  }
  return adjusted;
}

Ratio ratio(const Statistics& a, const Statistics& b) {
  assert(b.mean != 0);
  const double q = a.mean / b.mean;
  Ratio result{.value = q};
  if (a.count < 2 || b.count < 2) return result;
  const double u = error_squared(a), v = error_squared(b);
  if (u + v == 0) {
    result.interval = Interval{q, q};
    return result;
  }
  // |a - q b| <= t sqrt(u + q^2 v): a quadratic in q, whose roots are the ends.
  const double t = student_t(satterthwaite(u, a.count, q * q * v, b.count));
  const double A = b.mean * b.mean - t * t * v;
  const double B = a.mean * b.mean;
  const double C = a.mean * a.mean - t * t * u;
  if (A <= 0) return result;  // b may be 0: the interval is unbounded
  const double root = std::sqrt(std::max(0.0, B * B - A * C));
  result.interval = Interval{(B - root) / A, (B + root) / A};
  return result;
}

Ratio transformed(const Ratio& from, const std::function<double(double)>& monotone) {
  Ratio to{.value = monotone(from.value)};
  if (from.interval) {
    const auto [low, high] = std::minmax({monotone(from.interval->low), monotone(from.interval->high)});
    to.interval = Interval{low, high};
  }
  return to;
}

}  // namespace convoke::study
