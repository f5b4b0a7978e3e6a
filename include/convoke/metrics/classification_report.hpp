#pragma once
#include <string>
#include <vector>

#include "convoke/metrics/confusion_matrix.hpp"

namespace convoke::metrics {

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
