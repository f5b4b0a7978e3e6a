#pragma once
#include <cstdint>

#include "convoke/explore/vectors.hpp"

namespace convoke::explore {

struct TsneOptions {
  double perplexity = 30;  ///< at most a third of the other points
  int iterations = 1000;
  int exaggerated_iterations = 250;  ///< the first ones, which multiply affinities by `exaggeration`
  double exaggeration = 12;
  std::uint64_t seed = 0;
};

/// Maps the points (n, d) onto the plane, (n, 2), so that neighbors stay together: exact t-SNE, n^2 per
/// iteration. L. van der Maaten, G. Hinton, "Visualizing data using t-SNE", JMLR 9, 2008. The learning rate
/// is n / (4 exaggeration), at least 50, as in scikit-learn, after A. Belkina et al., Nature Communications
/// 10, 2019. The start is the first two columns of `points`, which should be principal components (D. Kobak,
/// P. Berens, Nature Communications 10, 2019), with keyed noise that separates equal points. A pure function
/// of its arguments.
Matrix tsne(const Matrix& points, const TsneOptions& options);

/// Returns p(j|i), the probability that point i picks j as its neighbor: (n, n), rows sum to 1, the diagonal
/// is 0. The width of the Gaussian around i is chosen so that exp(entropy) = perplexity, to 1e-5 of the
/// entropy. If too many points equal i, this is impossible, and they get equal shares. n > 1, perplexity in
/// [1, n - 1].
Matrix neighbor_probabilities(const Matrix& points, double perplexity);

}  // namespace convoke::explore
