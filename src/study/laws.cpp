#include "convoke/study/laws.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace convoke::study {
namespace {

Estimate estimate(double value, double variance, std::int64_t degrees) {
  if (degrees < 1) return {value, {}};
  const double half = student_t(static_cast<double>(degrees)) * std::sqrt(std::max(0.0, variance));
  return {value, Interval{value - half, value + half}};
}

}  // namespace

std::optional<AmdahlFit> AmdahlFit::of(std::span<const TimesAt> times) {
  std::int64_t runs = 0;
  bool several = false;
  for (const TimesAt& at : times) {
    runs += static_cast<std::int64_t>(at.seconds.size());
    several = several || at.workers != times.front().workers;
  }
  if (!several) return {};

  // Rows (1, 1 / n) and T, divided by the mean time at n.
  Eigen::MatrixXd x(runs, 2);
  Eigen::VectorXd y(runs);
  std::int64_t row = 0;
  for (const TimesAt& at : times) {
    const double mean =
        std::accumulate(at.seconds.begin(), at.seconds.end(), 0.0) / static_cast<double>(at.seconds.size());
    for (const double seconds : at.seconds) {
      x.row(row) << 1 / mean, 1 / (at.workers * mean);
      y(row++) = seconds / mean;
    }
  }
  const Eigen::Vector2d fitted = x.colPivHouseholderQr().solve(y);

  AmdahlFit fit;
  fit.constant_ = fitted(0);
  fit.divided_ = fitted(1);
  fit.degrees_ = runs - 2;
  if (fit.degrees_ > 0) fit.scatter_ = (y - x * fitted).squaredNorm() / static_cast<double>(fit.degrees_);
  const Eigen::Matrix2d covariance = fit.scatter_ * (x.transpose() * x).inverse();
  fit.covariance_[0] = covariance(0, 0);
  fit.covariance_[1] = covariance(0, 1);
  fit.covariance_[2] = covariance(1, 1);

  // T1 = c + d, f = c / (c + d)
  const double t1 = fit.constant_ + fit.divided_;
  const Eigen::Vector2d of_t1(1, 1);
  const Eigen::Vector2d of_f(fit.divided_ / (t1 * t1), -fit.constant_ / (t1 * t1));
  fit.sequential_ = estimate(t1, of_t1.dot(covariance * of_t1), fit.degrees_);
  fit.serial_ = estimate(fit.constant_ / t1, of_f.dot(covariance * of_f), fit.degrees_);
  return fit;
}

Prediction AmdahlFit::at(std::int64_t workers) const {
  const double inverse = 1 / static_cast<double>(workers);
  Prediction p{.workers = workers, .seconds = constant_ + divided_ * inverse, .seconds_interval = {}};
  p.speedup = sequential_.value / p.seconds;
  // Of the curve, and of a run about it.
  const double curve = covariance_[0] + 2 * covariance_[1] * inverse + covariance_[2] * inverse * inverse;
  p.seconds_interval = estimate(p.seconds, curve + scatter_ * p.seconds * p.seconds, degrees_).interval;
  return p;
}

//   s = sum (n - 1) (n - S) / sum (n - 1)^2
std::optional<Estimate> gustafson_serial_fraction(std::span<const SpeedupAt> points) {
  double products = 0, squares = 0;
  std::int64_t count = 0;
  for (const SpeedupAt& at : points) {
    if (at.workers <= 1) continue;
    products += (at.workers - 1) * (at.workers - at.speedup);
    squares += (at.workers - 1) * (at.workers - 1);
    ++count;
  }
  if (count == 0) return {};
  const double serial = products / squares;
  double residuals = 0;
  for (const SpeedupAt& at : points) {
    if (at.workers <= 1) continue;
    const double residual = at.speedup - (at.workers - serial * (at.workers - 1));
    residuals += residual * residual;
  }
  const std::int64_t degrees = count - 1;
  return estimate(serial, degrees > 0 ? residuals / static_cast<double>(degrees) / squares : 0, degrees);
}

}  // namespace convoke::study
