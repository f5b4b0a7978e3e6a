#include "nn/orthogonal.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace convoke::nn {
namespace {

/// A column of a matrix that is stored column after column.
std::span<double> column(std::vector<double>& matrix, std::size_t height, std::size_t j) {
  return std::span(matrix).subspan(j * height, height);
}

// x <- x - 2 v (v . x) for the elements from `first` on.
void reflect(std::span<const double> v, std::size_t first, std::span<double> x) {
  double dot = 0;
  for (std::size_t i = first; i < x.size(); ++i) dot += v[i] * x[i];
  for (std::size_t i = first; i < x.size(); ++i) x[i] -= 2 * dot * v[i];
}

}  // namespace

// Householder: A = H_0 H_1 ... R, so Q = H_0 H_1 ... I; H_j = I - 2 v_j v_j^T with v_j = 0 above row j.
void orthogonal(std::int64_t rows, std::int64_t columns, const RandomKey& key, std::span<float> values) {
  assert(static_cast<std::int64_t>(values.size()) == rows * columns);
  const auto height = static_cast<std::size_t>(std::max(rows, columns));
  const auto width = static_cast<std::size_t>(std::min(rows, columns));
  std::vector<double> a(height * width), q(height * width), sign(width);
  RandomStream random(key);
  for (double& value : a) value = random.normal();
  for (std::size_t j = 0; j < width; ++j) {
    const std::span<double> v = column(a, height, j);
    double norm = 0;
    for (std::size_t i = j; i < height; ++i) norm += v[i] * v[i];
    norm = std::sqrt(norm);
    const double diagonal = v[j] > 0 ? -norm : norm;  // of R; away from v[j], so nothing cancels
    sign[j] = diagonal < 0 ? -1 : 1;
    const double length = std::sqrt(2 * norm * (norm + std::abs(v[j])));
    v[j] -= diagonal;
    for (std::size_t i = 0; i < height; ++i) v[i] = i < j ? 0 : v[i] / length;
    for (std::size_t k = j + 1; k < width; ++k) reflect(v, j, column(a, height, k));
  }
  for (std::size_t k = 0; k < width; ++k) {
    const std::span<double> x = column(q, height, k);
    x[k] = sign[k];
    for (std::size_t j = width; j-- > 0;) reflect(column(a, height, j), j, x);
  }
  const bool tall = rows >= columns;
  for (std::size_t i = 0; i < height; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      values[tall ? i * width + k : k * height + i] = static_cast<float>(q[k * height + i]);
    }
  }
}

}  // namespace convoke::nn
