#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convoke/study/statistics.hpp"

namespace convoke::study {

/// A fitted number.
struct Estimate {
  double value = 0;
  std::optional<Interval> interval;  ///< none without degrees of freedom left
};

/// The runs at one number of workers.
struct TimesAt {
  double workers = 1;
  std::vector<double> seconds;
};

/// What a law says of a run that was not made.
struct Prediction {
  std::int64_t workers = 1;
  double seconds = 0;
  std::optional<Interval> seconds_interval;  ///< 95 % prediction interval: of one new run
  double speedup = 0;                        ///< over the law's time of one worker
};

/// Amdahl's law (AFIPS 1967), T(n) = T1 (f + (1 - f) / n), by weighted least squares: the scatter is taken to
/// be in proportion to the time. Intervals of T1 and f by the delta method.
class AmdahlFit {
 public:
  /// None for times of fewer than two numbers of workers.
  static std::optional<AmdahlFit> of(std::span<const TimesAt> times);

  const Estimate& sequential_seconds() const { return sequential_; }  ///< T1
  /// f. Below 0 where the speed-up is more than the workers, which the law does not know.
  const Estimate& serial_fraction() const { return serial_; }
  std::int64_t degrees() const { return degrees_; }  ///< of freedom: runs - 2

  Prediction at(std::int64_t workers) const;

 private:
  // T(n) = constant + divided / n
  double constant_ = 0, divided_ = 0;
  double covariance_[3] = {};  // of the two: (c, c), (c, d), (d, d)
  double scatter_ = 0;         // squared, relative to the time
  std::int64_t degrees_ = 0;
  Estimate sequential_, serial_;
};

/// A speed-up that was measured, of work that grows with the workers.
struct SpeedupAt {
  double workers = 1;
  double speedup = 1;
};

/// Gustafson's law (CACM 31, 1988), S(n) = n - s (n - 1), by least squares: s is the serial share of the time
/// on n workers. None without a point of more than one worker; no interval from a single one.
std::optional<Estimate> gustafson_serial_fraction(std::span<const SpeedupAt> points);

}  // namespace convoke::study
