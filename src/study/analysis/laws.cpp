#include "convoke/study/analysis/laws.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace convoke::study {

std::optional<AmdahlFit> AmdahlFit::of(std::span<const TimesAt> times) {
  std::vector<ValuesAt> points;
  for (const TimesAt& at : times) points.push_back({1 / at.workers, at.seconds});
  const auto line = LineFit::of(points);
  if (!line) return {};
  return AmdahlFit(*line);
}

Prediction AmdahlFit::at(std::int64_t workers) const {
  const double inverse = 1 / static_cast<double>(workers), seconds = line_.y(inverse);
  return {.workers = workers,
          .seconds = seconds,
          .seconds_interval = line_.interval_of_one(inverse),
          .speedup = line_.y(1) / seconds};
}

std::optional<Estimate> gustafson_serial_fraction(std::span<const TimesAt> times) {
  std::vector<ValuesAt> rates;
  for (const TimesAt& at : times) {
    rates.push_back({at.workers, {}});
    for (const double seconds : at.seconds) {
      if (seconds <= 0) return {};
      rates.back().values.push_back(at.workers / seconds);
    }
  }
  const auto line = LineFit::of(rates);
  if (!line) return {};
  return line->share_of_constant();
}

namespace {

std::optional<Interval> interval(double value, double variance, std::int64_t degrees) {
  if (degrees < 1) return {};
  const double half = student_t(static_cast<double>(degrees)) * std::sqrt(std::max(0.0, variance));
  return Interval{value - half, value + half};
}

}  // namespace

std::optional<LineFit> LineFit::of(std::span<const ValuesAt> points) {
  std::int64_t count = 0;
  bool several = false;
  for (const ValuesAt& at : points) {
    count += static_cast<std::int64_t>(at.values.size());
    several = several || at.x != points.front().x;
  }
  if (!several) return {};

  // Rows (1, x) and y, both divided by the mean y at x. Two columns: the normal equations are 2 x 2.
  Eigen::Matrix<double, Eigen::Dynamic, 2> x(count, 2);
  Eigen::VectorXd y(count);
  std::int64_t row = 0;
  for (const ValuesAt& at : points) {
    const double mean =
        std::accumulate(at.values.begin(), at.values.end(), 0.0) / static_cast<double>(at.values.size());
    for (const double value : at.values) {
      x.row(row) << 1 / mean, at.x / mean;
      y(row++) = value / mean;
    }
  }
  const Eigen::Matrix2d inverse = (x.transpose() * x).eval().inverse();
  const Eigen::Vector2d fitted = inverse * (x.transpose() * y);

  LineFit fit;
  fit.constant_ = fitted(0);
  fit.slope_ = fitted(1);
  fit.degrees_ = count - 2;
  if (fit.degrees_ > 0) fit.scatter_ = (y - x * fitted).squaredNorm() / static_cast<double>(fit.degrees_);
  const Eigen::Matrix2d covariance = fit.scatter_ * inverse;
  fit.covariance_[0] = covariance(0, 0);
  fit.covariance_[1] = covariance(0, 1);
  fit.covariance_[2] = covariance(1, 1);
  return fit;
}

double LineFit::variance(double x) const {
  return covariance_[0] + 2 * covariance_[1] * x + covariance_[2] * x * x;
}

std::optional<Interval> LineFit::interval_of_one(double x) const {
  return interval(y(x), variance(x) + scatter_ * y(x) * y(x), degrees_);
}

Estimate LineFit::at_one() const { return {y(1), interval(y(1), variance(1), degrees_)}; }

Estimate LineFit::share_of_constant() const {
  const double sum = y(1), share = constant_ / sum;
  // The derivatives of the share by constant and slope, times sum^2: slope and -constant.
  const double variance = (slope_ * slope_ * covariance_[0] - 2 * slope_ * constant_ * covariance_[1] +
                           constant_ * constant_ * covariance_[2]) /
                          (sum * sum * sum * sum);
  return {share, interval(share, variance, degrees_)};
}

}  // namespace convoke::study
