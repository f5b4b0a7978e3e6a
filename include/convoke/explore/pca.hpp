#pragma once
#include <cstdint>
#include <vector>

#include "convoke/explore/vectors.hpp"

namespace convoke::explore {

/// Principal components: the directions of largest variance. I. Jolliffe, "Principal Component Analysis",
/// 2002.
struct Pca {
  std::vector<double> mean;      ///< (D)
  Matrix components;             ///< (k, D), rows of length 1; the largest entry of each is positive
  std::vector<double> variance;  ///< (k), along each component, divided by n - 1, descending
  double total_variance = 0;     ///< over all D directions
  Matrix scores;                 ///< (n, k), the samples in these coordinates

  /// Returns the share of the variance along component i.
  double share(std::size_t i) const { return total_variance > 0 ? variance[i] / total_variance : 0; }
};

/// Computes at most `components` of the samples (n, D); fewer if the samples vary in fewer directions, none
/// if all are equal. Exact: eigenvectors of the covariance, or of the Gram matrix if D > n. Cost: n D min(n,
/// D) + min(n, D)^3.
Pca pca(const Matrix& samples, std::int64_t components);

/// Returns sample `point` made of the mean and its first `components` principal components: (D).
std::vector<double> reconstruct(const Pca& pca, std::int64_t point, std::int64_t components);

/// Returns the root of the mean squared error of all values of all samples after reconstruct with 0, 1, 2,
/// ... components: from the variances, without the samples. (k + 1)
std::vector<double> reconstruction_errors(const Pca& pca);

}  // namespace convoke::explore
