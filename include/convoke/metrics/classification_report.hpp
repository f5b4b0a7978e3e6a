#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace convoke::metrics {

/// Counts of (true class, predicted class). Additive: matrices of parts sum to that of the whole, also over
/// ranks.
class ConfusionMatrix {
 public:
  /// `classes` > 0.
  explicit ConfusionMatrix(std::int64_t classes);

  /// Adds one sample per element; the sizes must be equal. Throws Error naming the sample if a label is not
  /// in 0..classes-1.
  void add(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted);

  std::int64_t classes() const { return classes_; }
  std::int64_t at(std::int64_t truth, std::int64_t predicted) const;
  std::int64_t total() const;
  /// Row-major (classes, classes); ranks may sum them in place.
  std::span<std::int64_t> counts() { return counts_; }
  std::span<const std::int64_t> counts() const { return counts_; }

 private:
  std::int64_t classes_;
  std::vector<std::int64_t> counts_;
};

/// Precision, recall and F1 of one class or of an average; 0 where undefined, as scikit-learn.
struct Scores {
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  std::int64_t support = 0;
};

struct ClassificationReport {
  std::vector<Scores> classes;
  double accuracy = 0;
  Scores macro;     ///< unweighted mean over classes
  Scores weighted;  ///< mean over classes weighted by support
};

ClassificationReport classification_report(const ConfusionMatrix& matrix);

/// Returns the text of scikit-learn's classification_report(digits=4), character for character. `names`: one
/// per class, or empty for 0, 1, 2, ...
std::string to_text(const ClassificationReport& report, const std::vector<std::string>& names = {});

}  // namespace convoke::metrics
