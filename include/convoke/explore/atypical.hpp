#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/explore/matrix.hpp"
#include "convoke/explore/neighbours.hpp"

namespace convoke::explore {

/// A sample that stands out: its number among the points, and how much.
struct Atypical {
  std::int64_t point = 0;
  double score = 0;
};

/// The samples that lie farthest from their own class, first the farthest: the distance to the k-th nearest
/// of the same class over the median of that over the class. S. Ramaswamy et al., "Efficient algorithms for
/// mining outliers from large data sets", SIGMOD 2000. Classes of at most k + 1 points, and such as are
/// mostly equal points, have none. points: (n, d), labels: (n).
std::vector<Atypical> far_from_their_class(const Matrix& points, std::span<const std::int32_t> labels,
                                           std::int64_t k, std::size_t most);

/// A sample among samples of other classes.
struct Stranger {
  std::int64_t point = 0;
  double disagreement = 0;    ///< share of its neighbours that have another label
  std::int32_t majority = 0;  ///< the most frequent label of its neighbours
};

/// The samples whose neighbours mostly have another label, which may be wrong labels, first those with the
/// highest share, among equals the one nearest to its neighbours: k-disagreeing neighbours of M. Smith, T.
/// Martinez, C. Giraud-Carrier, "An instance level analysis of data complexity", Machine Learning 95, 2014.
/// Only where a majority of neighbours disagrees.
std::vector<Stranger> among_strangers(const Neighbours& neighbours, std::span<const std::int32_t> labels,
                                      std::size_t most);

/// Share of samples that the vote of their neighbours gets right (ties: the label of the nearest of them).
double neighbour_accuracy(const Neighbours& neighbours, std::span<const std::int32_t> labels);

}  // namespace convoke::explore
