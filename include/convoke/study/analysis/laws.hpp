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

/// What a law says of a run that was not made.
struct Prediction {
  std::int64_t workers = 1;
  double seconds = 0;
  std::optional<Interval> seconds_interval;  ///< 95 % prediction interval: of one new run
  double speedup = 0;                        ///< over the law's time of one worker
};

/// Amdahl's law (AFIPS 1967), T(n) = T1 (f + (1 - f) / n), as a line in 1 / n: all runs count, by their
/// relative errors.
class AmdahlFit {
 public:
  /// None for times of fewer than two numbers of workers.
  static std::optional<AmdahlFit> of(std::span<const TimesAt> times);

  Estimate sequential_seconds() const { return line_.at_one(); }  ///< T1
  /// f. Below 0 where the speed-up is more than the workers, of which the law says nothing.
  Estimate serial_fraction() const { return line_.share_of_constant(); }
  std::int64_t degrees() const { return line_.degrees(); }  ///< of freedom: runs - 2

  Prediction at(std::int64_t workers) const;

 private:
  explicit AmdahlFit(const LineFit& line) : line_(line) {}

  LineFit line_;  // T by 1 / n
};

/// Gustafson's law (CACM 31, 1988), S(n) = n - s (n - 1): s is the serial share of the time on n workers. As
/// a line in n, for the work that is done in a unit of time, R(n) = R1 (s + (1 - s) n), all runs count, by
/// their relative errors. `times`: those of a unit of work, as workers do more of it. None for fewer than two
/// numbers of workers, and where a time is 0.
std::optional<Estimate> gustafson_serial_fraction(std::span<const TimesAt> times);

}  // namespace convoke::study
