#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/metrics/classification_report.hpp"

namespace convoke::metrics {

/// Returns the number of samples whose true class is among the `k` most probable; of equally probable classes
/// the lowest label comes first. A true class with probability NaN does not count. `probabilities`: (samples,
/// classes), dense; `truth`: (samples), each in 0..classes-1.
std::int64_t top_k_hits(std::span<const double> probabilities, std::span<const std::int32_t> truth,
                        std::int64_t k);

/// Returns the agreement beyond chance for ordered classes (grades), where a confusion of classes i and j
/// weighs (i - j)^2. 1: full agreement; 0: as by chance; NaN: undefined, without samples or with all samples
/// in one class. Cohen, "Weighted kappa", 1968; scikit-learn's cohen_kappa_score(weights="quadratic",
/// labels=range(classes)).
double quadratic_kappa(const ConfusionMatrix& matrix);

/// The counts for the area under the ROC curve of a class: pairs of a sample of the class and one of another
/// class that the scores put in order. Whole numbers, so that their sums are exact.
struct RocPairs {
  std::int64_t twice_ordered = 0;  ///< two for each ordered pair, one for each tie
  std::int64_t positives = 0;      ///< samples of the class
  std::int64_t negatives = 0;      ///< all others

  /// Returns the share of ordered pairs, with ties as halves (Mann and Whitney's U / all pairs). NaN without
  /// positives or negatives.
  double area() const;
};

/// Counts the pairs of class `positive` against all other classes. `scores`: the model's score for this
/// class, and `truth`: the true class, for each sample. A NaN score makes the area NaN. O(n log n).
RocPairs roc_pairs(std::span<const double> scores, std::span<const std::int32_t> truth,
                   std::int32_t positive);

/// Returns scikit-learn's roc_auc_score with multi_class="ovr": for two classes the area of the second, else
/// the mean over all classes. `classes`: one entry per class. NaN if one of them is undefined.
double roc_auc(std::span<const RocPairs> classes);

/// The shares of wrong alarms (false positive rates) at which roc_curve gives a curve: (i / 40)^2, close to
/// each other where curves are steep.
std::vector<double> roc_grid();

/// Returns the share of samples of class `positive` that are found (true positive rate) at the shares of
/// roc_grid(), interpolated linearly between thresholds, as between equal scores; at 0, the largest. T.
/// Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters 27, 2006. Arguments as roc_pairs.
/// Empty without positives or negatives, or with a NaN score.
std::vector<double> roc_curve(std::span<const double> scores, std::span<const std::int32_t> truth,
                              std::int32_t positive);

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
