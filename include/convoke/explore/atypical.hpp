#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/explore/neighbors.hpp"
#include "convoke/explore/vectors.hpp"

namespace convoke::explore {

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
