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

/// What repeats of one measurement say.
struct Statistics {
  std::int64_t count = 0;
  double mean = 0, median = 0;
  double deviation = 0;              ///< of the sample (divided by count - 1); 0 of a single value
  std::optional<Interval> interval;  ///< of the mean, Student-t; none of a single value
  std::optional<double>
      relative_error;  ///< half the interval's width / |mean|; none without one, or of mean 0

  /// What the mean is at least, and at most: the ends of its interval, of a single value that value.
  double at_least() const { return interval ? interval->low : mean; }
  double at_most() const { return interval ? interval->high : mean; }

  /// All values are the same: the interval has no width, which says more of the clock than of the runs.
  bool is_constant() const { return count > 1 && deviation == 0; }
};

/// Of one value or more; of an even number, half-way between the two in the middle.
double median(std::vector<double> values);

/// Of one value or more.
Statistics summarize(std::span<const double> values);

/// How many more runs until the relative error is at most `target` (above 0), if they scatter as the present
/// ones do; 0 if it is already. None of a single value: nothing is known of the scatter. The thesis asks for
/// 0.05.
std::optional<std::int64_t> runs_needed(const Statistics& statistics, double target);

/// The 97.5 % quantile of Student's t with so many degrees of freedom (above 0, need not be whole): half a 95
/// % interval in standard errors.
double student_t(double degrees);

/// P(|T| >= |t|) of Student's t: the two-sided p-value.
double student_p(double t, double degrees);

/// Welch's t-test of two means, variances unequal (Welch, Biometrika 34, 1947).
struct WelchTest {
  double difference = 0;  ///< mean of a - mean of b
  Interval interval;      ///< of it
  double t = 0, degrees = 0, p = 1;
};

/// None if either has a single value. Of two constants p is 1 if they are equal, else 0.
std::optional<WelchTest> welch_test(const Statistics& a, const Statistics& b);

/// p-values of several tests made together such that all hold at once (Holm, Scand. J. Statist. 6, 1979).
std::vector<double> holm(std::span<const double> p);

/// The quotient of two means.
struct Ratio {
  double value = 0;
  std::optional<Interval> interval;  ///< Fieller's; none of single values, or if the divisor may be 0
};

/// mean(a) / mean(b) with the interval of Fieller (J. R. Statist. Soc. B 16, 1954) for independent means of
/// unequal variances: the quotients q for which a Welch test does not tell mean(a) from q mean(b), with the
/// degrees of freedom of Welch and Satterthwaite at the quotient itself. mean(b) must not be 0.
Ratio ratio(const Statistics& a, const Statistics& b);

/// A monotone function of a quotient: of the value, and of the ends of its interval.
Ratio transformed(const Ratio& ratio, const std::function<double(double)>& monotone);

}  // namespace convoke::study
