#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convoke/study/analysis/line_fit.hpp"

namespace convoke::study {

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
/// relative errors. `times`: for one unit of work, because more workers do more work. Empty for fewer than
/// two numbers of workers, and if a time is 0.
std::optional<Estimate> gustafson_serial_fraction(std::span<const TimesAt> times);

}  // namespace convoke::study
