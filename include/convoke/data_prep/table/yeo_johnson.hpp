#pragma once
#include <span>

namespace convoke::data_prep {

/// I.-K. Yeo, R. A. Johnson, "A new family of power transformations to improve normality or symmetry",
/// Biometrika 87, 2000:
///   x >= 0:  ((x + 1)^lambda - 1) / lambda,               log(x + 1) for lambda 0
///   x < 0:   -((1 - x)^(2 - lambda) - 1) / (2 - lambda),  -log(1 - x) for lambda 2
/// Monotonic in x; lambda 1 returns x.
double yeo_johnson(double x, double lambda);

/// Returns the lambda that makes the transformed values most likely normal; 1 if all are the same. Equals
/// scikit-learn's PowerTransformer to about seven digits.
double yeo_johnson_lambda(std::span<const double> values);

}  // namespace convoke::data_prep
