#pragma once
#include <cstdint>

#include "convoke/explore/matrix.hpp"

namespace convoke::explore {

struct TsneOptions {
  double perplexity = 30;  ///< cut to a third of the other points
  int iterations = 1000;
  int exaggerated_iterations = 250;  ///< the first ones, in which affinities count `exaggeration`-fold
  double exaggeration = 12;
  std::uint64_t seed = 0;
};

/// A map of the points (n, d) onto the plane, (n, 2), in which neighbours stay together: exact t-SNE,
/// n^2 per iteration. L. van der Maaten, G. Hinton, "Visualizing data using t-SNE", JMLR 9, 2008; learning
/// rate n / (4 exaggeration), at least 50, as scikit-learn's, after A. Belkina et al., Nature Communications
/// 10, 2019. It starts from the first two columns of `points`, which are meant to be principal components (D.
/// Kobak, P. Berens, Nature Communications 10, 2019), with keyed noise that parts equal points. A pure
/// function of its arguments.
Matrix tsne(const Matrix& points, const TsneOptions& options);

/// p(j|i), the chance that point i picks j as its neighbour: (n, n), rows sum to 1, the diagonal is 0. The
/// Gaussian around i is as wide as gives exp(entropy) = perplexity, to 1e-5 of the entropy; where so many
/// points are equal to i that it cannot be met, they share alike. n > 1, perplexity in [1, n - 1].
Matrix neighbour_probabilities(const Matrix& points, double perplexity);

}  // namespace convoke::explore
