#include "convoke/explore/reconstruction.hpp"

#include <algorithm>
#include <cmath>

namespace convoke::explore {

//   x' = mean + sum_i score_i component_i
std::vector<double> reconstruct(const Pca& pca, std::int64_t point, std::int64_t components) {
  std::vector<double> sample = pca.mean;
  for (std::int64_t i = 0; i < std::min(components, pca.components.rows); ++i) {
    const double score = pca.scores(point, i);
    for (std::size_t d = 0; d < sample.size(); ++d)
      sample[d] += score * pca.components(i, static_cast<std::int64_t>(d));
  }
  return sample;
}

//   error(k)^2 = (n - 1) / n (total variance - variance of the first k components) / D
std::vector<double> reconstruction_errors(const Pca& pca) {
  const auto n = static_cast<double>(pca.scores.rows), width = static_cast<double>(pca.mean.size());
  std::vector<double> errors;
  double left = pca.total_variance;
  for (std::size_t k = 0; k <= pca.variance.size(); ++k) {
    errors.push_back(std::sqrt(std::max(0.0, left) * (n - 1) / n / width));
    if (k < pca.variance.size()) left -= pca.variance[k];
  }
  return errors;
}

}  // namespace convoke::explore
