#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace convoke::metrics {

/// Compares the confidence of a classifier (the probability of the predicted class) with its accuracy, in
/// bins of equal width. Bin b of B takes confidences in (b / B, (b + 1) / B]. Additive: counts of parts sum
/// to those of the whole, also over ranks. Guo, Pleiss, Sun, Weinberger, "On calibration of modern neural
/// networks", ICML 2017, whose 15 bins are the default.
class Calibration {
 public:
  struct Bin {
    std::int64_t samples = 0;
    double confidence = 0;  ///< mean; 0 without samples
    double accuracy = 0;    ///< share of correct predictions; 0 without samples
  };

  /// `bins` > 0.
  explicit Calibration(std::int64_t bins = 15);

  /// Adds a prediction. A confidence outside [0, 1] counts as the nearer end, NaN as 0.
  void add(double confidence, bool correct);

  std::int64_t bins() const { return static_cast<std::int64_t>(counts_.size()) / 3; }
  Bin bin(std::int64_t b) const;
  /// Returns the expected calibration error: the mean over samples of |accuracy - confidence| of their bin;
  /// NaN without samples.
  double expected_error() const;
  /// Returns the maximum calibration error: the largest |accuracy - confidence| of a bin; NaN without
  /// samples.
  double maximum_error() const;

  /// For each bin: samples, correct samples, and the sum of confidences in units of 2^-32, so that sums do
  /// not depend on their order; ranks may sum them in place.
  std::span<std::int64_t> counts() { return counts_; }
  std::span<const std::int64_t> counts() const { return counts_; }

 private:
  std::vector<std::int64_t> counts_;
};

}  // namespace convoke::metrics
