#pragma once
#include <cstdint>
#include <span>
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

/// An atypical sample: its number among the points, and its score.
struct Atypical {
  std::int64_t point = 0;
  double score = 0;
  std::int32_t majority = -1;  ///< suspect labels: the most frequent other label of its neighbors
};

/// Returns the samples farthest from their own class, farthest first. The score is the distance to the k-th
/// nearest sample of the class, divided by the class's median of that distance. S. Ramaswamy et al.,
/// "Efficient algorithms for mining outliers from large data sets", SIGMOD 2000. Classes with at most k + 1
/// points, or with mostly equal points, have none. points: (n, d), labels: (n).
std::vector<Atypical> far_from_their_class(const Matrix& points, std::span<const std::int32_t> labels,
                                           std::int64_t k, std::size_t most);

/// Returns the samples whose neighbors mostly have another label; their own labels may be wrong. The score is
/// the share of these neighbors. The highest comes first; among equals, the sample nearest to its neighbors.
/// k-disagreeing neighbors of M. Smith, T. Martinez, C. Giraud-Carrier, "An instance level analysis of data
/// complexity", Machine Learning 95, 2014. Only samples with a disagreeing majority of neighbors.
std::vector<Atypical> suspect_labels(const Neighbors& neighbors, std::span<const std::int32_t> labels,
                                     std::size_t most);

/// Returns the share of samples that the vote of their neighbors classifies correctly (a tie goes to the
/// nearest of them).
double neighbor_accuracy(const Neighbors& neighbors, std::span<const std::int32_t> labels);

}  // namespace convoke::explore
