#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convoke/study/analysis/statistics.hpp"

namespace convoke::study {

/// A fitted number.
struct Estimate {
  double value = 0;
  std::optional<Interval> interval;  ///< empty without degrees of freedom
};

/// The measurements at one x.
struct ValuesAt {
  double x = 0;
  std::vector<double> values;  ///< above 0, one or more
};

/// A straight line, y = constant + slope x, by weighted least squares: the scatter is assumed to be
/// proportional to y. Intervals by the delta method.
class LineFit {
 public:
  /// Empty for values at fewer than two x.
  static std::optional<LineFit> of(std::span<const ValuesAt> points);

  double y(double x) const { return constant_ + slope_ * x; }
  std::optional<Interval> interval_of_one(
      double x) const;                               ///< 95 % prediction interval of one new value at x
  Estimate at_one() const;                           ///< constant + slope
  Estimate share_of_constant() const;                ///< constant / (constant + slope)
  std::int64_t degrees() const { return degrees_; }  ///< of freedom: values - 2

 private:
  double variance(double x) const;  // variance of the line at x

  double constant_ = 0, slope_ = 0;
  double covariance_[3] = {};  // of constant and slope: (c, c), (c, s), (s, s)
  double scatter_ = 0;         // squared, relative to y
  std::int64_t degrees_ = 0;
};

}  // namespace convoke::study
