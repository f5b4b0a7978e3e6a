#include "convoke/explore/pca.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "convoke/core/error.hpp"

#include "eigen.hpp"

namespace convoke::explore {
namespace {

// Directions with less than this share of the largest variance are rounding errors.
constexpr double kNoVariance = 1e-12;

// The sign of an eigenvector is arbitrary; makes its largest entry positive.
void fix_sign(Eigen::Ref<Eigen::RowVectorXd> component) {
  Eigen::Index largest = 0;
  component.cwiseAbs().maxCoeff(&largest);
  if (component[largest] < 0) component = -component;
}

}  // namespace

//   X = samples - mean                                    (n, D)
//   D <= n:  C = X' X / (n - 1) = V L V'                  components V'
//   D > n:   G = X X' / (n - 1) = U L U'                  components (X' U)' / norm
//   scores = X V
Pca pca(const Matrix& samples, std::int64_t components) {
  ensure(samples.rows > 0 && samples.columns > 0, "there are samples");
  const Eigen::Index n = samples.rows;
  const Eigen::Index width = samples.columns;
  const Eigen::RowVectorXd mean = view(samples).colwise().mean();
  RowMajor x = view(samples).rowwise() - mean;
  if (x.squaredNorm() <= kRounding * kRounding * view(samples).squaredNorm()) x.setZero();
  const double freedom = std::max<double>(1, static_cast<double>(n - 1));

  Pca result;
  result.mean.assign(mean.data(), mean.data() + width);
  result.total_variance = x.squaredNorm() / freedom;

  const bool by_covariance = width <= n;
  const Eigen::Index size = std::min(n, width);
  Eigen::MatrixXd products = Eigen::MatrixXd::Zero(size, size);
  if (by_covariance) {
    products.selfadjointView<Eigen::Lower>().rankUpdate(x.transpose(), 1 / freedom);
  } else {
    products.selfadjointView<Eigen::Lower>().rankUpdate(x, 1 / freedom);
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(products);  // ascending
  const double largest = std::max(0.0, solved.eigenvalues()[size - 1]);
  while (static_cast<std::int64_t>(result.variance.size()) < std::min<std::int64_t>(components, size)) {
    const double variance =
        solved.eigenvalues()[size - 1 - static_cast<Eigen::Index>(result.variance.size())];
    if (!(variance > kNoVariance * largest)) break;
    result.variance.push_back(variance);
  }

  const auto found = static_cast<std::int64_t>(result.variance.size());
  result.components = Matrix(found, width);
  for (std::int64_t i = 0; i < found; ++i) {
    const auto vector = solved.eigenvectors().col(size - 1 - i);
    Eigen::RowVectorXd component =
        by_covariance ? Eigen::RowVectorXd(vector.transpose())
                      : Eigen::RowVectorXd((x.transpose() * vector).transpose().normalized());
    fix_sign(component);
    view(result.components).row(i) = component;
  }
  result.scores = Matrix(n, found);
  view(result.scores).noalias() = x * view(std::as_const(result.components)).transpose();
  return result;
}

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
