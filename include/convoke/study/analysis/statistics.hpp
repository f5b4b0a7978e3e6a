#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace convoke::study {

/// A 95 % interval.
struct Interval {
  double low = 0, high = 0;
  bool operator==(const Interval&) const = default;
};

/// Statistics of the repeats of one measurement.
struct Statistics {
  std::int64_t count = 0;
  double mean = 0, median = 0;
  double deviation = 0;              ///< sample standard deviation (divisor count - 1); 0 for a single value
  std::optional<Interval> interval;  ///< of the mean, by Student's t; empty for a single value
  std::optional<double>
      relative_error;  ///< half the interval's width / |mean|; empty without an interval, or for mean 0

  /// Lower bound of the mean: the end of its interval, or the value itself if there is only one.
  double at_least() const { return interval ? interval->low : mean; }

  /// True if all values are equal: the interval has zero width, which is due to the resolution of the clock.
  bool is_constant() const { return count > 1 && deviation == 0; }
};

/// Returns the median of one value or more; for an even number, the mean of the two middle values.
double median(std::vector<double> values);

/// Returns the statistics of one value or more.
Statistics summarize(std::span<const double> values);

/// Returns how many more runs reduce the relative error to `target` (above 0) if they scatter like the
/// present ones; 0 if the error is small enough. Empty for a single value, whose scatter is unknown. The
/// target of the thesis is 0.05.
std::optional<std::int64_t> runs_needed(const Statistics& statistics, double target);

/// Returns the 97.5 % quantile of Student's t with these degrees of freedom (above 0, need not be whole):
/// half a 95 % interval in standard errors.
double student_t(double degrees);

/// Returns P(|T| >= |t|) of Student's t: the two-sided p-value.
double student_p(double t, double degrees);

/// Welch's t-test of two means with unequal variances (Welch, Biometrika 34, 1947).
struct WelchTest {
  double difference = 0;  ///< mean of a - mean of b
  Interval interval;      ///< of the difference
  double t = 0, degrees = 0, p = 1;
};

/// Empty if either side has a single value. For two constants p is 1 if they are equal, otherwise 0.
std::optional<WelchTest> welch_test(const Statistics& a, const Statistics& b);

/// Returns adjusted p-values of several tests, valid jointly (Holm, Scand. J. Statist. 6, 1979).
std::vector<double> holm(std::span<const double> p);

/// A number that follows from measurements: fitted, or the quotient of two means.
struct Estimate {
  double value = 0;
  /// That of a quotient is Fieller's. It is empty without degrees of freedom, for single values, and if the
  /// divisor may be 0.
  std::optional<Interval> interval = {};
};
using Ratio = Estimate;

/// Returns mean(a) / mean(b) with the interval of Fieller (J. R. Statist. Soc. B 16, 1954) for independent
/// means of unequal variances: the quotients q for which a Welch test cannot distinguish mean(a) from q
/// mean(b), with the degrees of freedom of Welch and Satterthwaite at the quotient. mean(b) must not be 0.
Ratio ratio(const Statistics& a, const Statistics& b);

/// Applies a monotone function to a quotient: to its value and to the ends of its interval.
Ratio transformed(const Ratio& ratio, const std::function<double(double)>& monotone);

}  // namespace convoke::study
