#pragma once
#include <cstdint>
#include <vector>

#include "convoke/explore/vectors.hpp"

namespace convoke::explore {

/// The k nearest other points of every point, by Euclidean distance, nearest first; at equal distances, lower
/// numbers first.
struct Neighbors {
  std::int64_t k = 0;
  std::vector<std::int32_t> index;  ///< (n, k)
  std::vector<double> distance;     ///< (n, k)

  std::int32_t of(std::int64_t point, std::int64_t rank) const {
    return index[static_cast<std::size_t>(point * k + rank)];
  }
  double distance_of(std::int64_t point, std::int64_t rank) const {
    return distance[static_cast<std::size_t>(point * k + rank)];
  }
};

/// Finds the neighbors of points (n, d); k is at most n - 1. Exact: compares every pair, n^2 d.
Neighbors nearest_neighbors(const Matrix& points, std::int64_t k);

/// Returns how well the neighbors in `map` (n, 2) match those among `points` (n, d), in [0, 1]; 1 is a
/// perfect match. J. Venna, S. Kaski, "Neighborhood preservation in nonlinear projection methods", ICANN
/// 2001, as scikit-learn's sklearn.manifold.trustworthiness. NaN unless k < n / 2.
double trustworthiness(const Matrix& points, const Matrix& map, std::int64_t k);

}  // namespace convoke::explore
