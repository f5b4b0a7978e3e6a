#include "convoke/explore/correlation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "convoke/core/error.hpp"

#include "eigen.hpp"

namespace convoke::explore {
namespace {

// Returns the columns without their means, and the squared length of each; 0 for a constant column.
std::pair<RowMajor, Eigen::RowVectorXd> centered(const Matrix& samples) {
  const auto x = view(samples);
  RowMajor result = x.rowwise() - x.colwise().mean();
  Eigen::RowVectorXd squares = result.colwise().squaredNorm();
  const Eigen::RowVectorXd sizes = x.colwise().squaredNorm();
  for (Eigen::Index c = 0; c < squares.size(); ++c) {
    if (squares[c] <= kRounding * kRounding * sizes[c]) squares[c] = 0;
  }
  return {std::move(result), std::move(squares)};
}

// Writes the ranks of a column, from 0 on; equal values get the mean of their ranks.
void rank_column(const Matrix& samples, std::int64_t column, Matrix& ranks) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples.rows));
  std::iota(order.begin(), order.end(), 0);
  const auto value = [&](std::int64_t row) { return samples(row, column); };
  std::ranges::sort(order, [&](auto a, auto b) { return value(a) < value(b); });
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    while (end < order.size() && value(order[end]) == value(order[first])) ++end;
    for (std::size_t i = first; i < end; ++i)
      ranks(order[i], column) = static_cast<double>(first + end - 1) / 2;
  }
}

}  // namespace

//   r_ab = sum (a - mean a)(b - mean b) / sqrt(sum (a - mean a)^2 sum (b - mean b)^2)
Matrix correlations(const Matrix& samples) {
  const auto [x, squares] = centered(samples);
  Matrix result(samples.columns, samples.columns);
  view(result).noalias() = x.transpose() * x;
  for (std::int64_t a = 0; a < samples.columns; ++a) {
    for (std::int64_t b = 0; b < samples.columns; ++b) {
      const double scale = std::sqrt(squares[a]) * std::sqrt(squares[b]);
      result(a, b) = scale > 0 ? std::clamp(result(a, b) / scale, -1.0, 1.0) : 0;
    }
    if (squares[a] > 0) result(a, a) = 1;
  }
  return result;
}

Matrix rank_correlations(const Matrix& samples) {
  Matrix result(samples.rows, samples.columns);
  for (std::int64_t c = 0; c < samples.columns; ++c) rank_column(samples, c, result);
  return correlations(result);
}

//   eta^2 = sum_k n_k (mean_k - mean)^2 / sum (x - mean)^2
std::vector<double> correlation_ratios(const Matrix& samples, std::span<const std::int32_t> labels) {
  ensure(static_cast<std::int64_t>(labels.size()) == samples.rows && !labels.empty(),
         "a label for each sample");
  const auto [x, squares] = centered(samples);
  const auto classes = static_cast<Eigen::Index>(*std::ranges::max_element(labels) + 1);
  RowMajor sums = RowMajor::Zero(classes, samples.columns);
  Eigen::VectorXd counts = Eigen::VectorXd::Zero(classes);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    sums.row(labels[i]) += x.row(static_cast<Eigen::Index>(i));
    counts[labels[i]] += 1;
  }
  std::vector<double> ratios(static_cast<std::size_t>(samples.columns), 0.0);
  for (Eigen::Index c = 0; c < sums.cols(); ++c) {
    double between = 0;
    for (Eigen::Index k = 0; k < classes; ++k) {
      if (counts[k] > 0) between += sums(k, c) * sums(k, c) / counts[k];
    }
    if (squares[c] > 0) ratios[static_cast<std::size_t>(c)] = std::clamp(between / squares[c], 0.0, 1.0);
  }
  return ratios;
}

}  // namespace convoke::explore
