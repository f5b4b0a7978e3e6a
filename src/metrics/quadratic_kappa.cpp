#include "convoke/metrics/quadratic_kappa.hpp"

#include <limits>

namespace convoke::metrics {

//   kappa = 1 - sum_ij (i - j)^2 O_ij / sum_ij (i - j)^2 E_ij     E_ij = sum_k O_ik  sum_k O_kj / n
double quadratic_kappa(const ConfusionMatrix& matrix) {
  const std::int64_t classes = matrix.classes();
  std::vector<double> truth(static_cast<std::size_t>(classes));
  std::vector<double> predicted(static_cast<std::size_t>(classes));
  const auto weight = [](std::int64_t i, std::int64_t j) { return static_cast<double>((i - j) * (i - j)); };
  double observed = 0;
  for (std::int64_t i = 0; i < classes; ++i) {
    for (std::int64_t j = 0; j < classes; ++j) {
      const auto count = static_cast<double>(matrix.at(i, j));
      truth[static_cast<std::size_t>(i)] += count;
      predicted[static_cast<std::size_t>(j)] += count;
      observed += weight(i, j) * count;
    }
  }
  double expected = 0;  // times n
  for (std::int64_t i = 0; i < classes; ++i) {
    for (std::int64_t j = 0; j < classes; ++j) {
      expected += weight(i, j) * truth[static_cast<std::size_t>(i)] * predicted[static_cast<std::size_t>(j)];
    }
  }
  if (expected == 0) return std::numeric_limits<double>::quiet_NaN();
  return 1 - observed * static_cast<double>(matrix.total()) / expected;
}

}  // namespace convoke::metrics
