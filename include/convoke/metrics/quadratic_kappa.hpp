#pragma once
#include "convoke/metrics/confusion_matrix.hpp"

namespace convoke::metrics {

/// Returns the agreement beyond chance for ordered classes (grades), where a confusion of classes i and j
/// weighs (i - j)^2. 1: full agreement; 0: as by chance; NaN: undefined, without samples or with all samples
/// in one class. Cohen, "Weighted kappa", 1968; scikit-learn's cohen_kappa_score(weights="quadratic",
/// labels=range(classes)).
double quadratic_kappa(const ConfusionMatrix& matrix);

}  // namespace convoke::metrics
