#pragma once
#include "convoke/metrics/confusion_matrix.hpp"

namespace convoke::metrics {

/// Agreement beyond chance, a confusion of classes i and j weighing (i - j)^2: for classes that are grades in
/// order. 1: all agree; 0: as by chance. NaN where undefined: no samples, or all in one class. Cohen,
/// "Weighted kappa", 1968; scikit-learn's cohen_kappa_score(weights="quadratic", labels=range(classes)).
double quadratic_kappa(const ConfusionMatrix& matrix);

}  // namespace convoke::metrics
