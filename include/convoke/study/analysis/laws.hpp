#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convoke/study/analysis/statistics.hpp"

namespace convoke::study {

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

/// The runs at one number of workers.
struct TimesAt {
  double workers = 1;
  std::vector<double> seconds;
};

/// The prediction of a law for a run that was not made.
struct Prediction {
  std::int64_t workers = 1;
  double seconds = 0;
  std::optional<Interval> seconds_interval;  ///< 95 % prediction interval of one new run
  double speedup = 0;                        ///< over the law's time of one worker
};

/// Amdahl's law (AFIPS 1967), T(n) = T1 (f + (1 - f) / n), as a line in 1 / n: fitted to all runs by their
/// relative errors.
class AmdahlFit {
 public:
  /// Empty for times of fewer than two numbers of workers.
  static std::optional<AmdahlFit> of(std::span<const TimesAt> times);

  Estimate sequential_seconds() const { return line_.at_one(); }  ///< T1
  /// f; below 0 if the speed-up exceeds the number of workers, which the law does not describe.
  Estimate serial_fraction() const { return line_.share_of_constant(); }
  std::int64_t degrees() const { return line_.degrees(); }  ///< of freedom: runs - 2

  Prediction at(std::int64_t workers) const;

 private:
  explicit AmdahlFit(const LineFit& line) : line_(line) {}

  LineFit line_;  // T by 1 / n
};

/// Fits Gustafson's law (CACM 31, 1988), S(n) = n - s (n - 1), where s is the serial share of the time on n
/// workers: as a line in n, for the work per unit of time, R(n) = R1 (s + (1 - s) n), to all runs by their
/// relative errors. `times`: n workers do n times the work of one; times of a fixed amount of work follow
/// another law. Empty for fewer than two numbers of workers, and if a time is 0.
std::optional<Estimate> gustafson_serial_fraction(std::span<const TimesAt> times);

}  // namespace convoke::study
