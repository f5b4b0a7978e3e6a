#include "convoke/explore/neighbors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "convoke/core/error.hpp"
#include "eigen.hpp"

namespace convoke::explore {
namespace {

constexpr Eigen::Index kRowsAtOnce = 256;
constexpr std::int64_t kSpare = 8;  // extra candidates, because the first distances are rounded

struct Candidate {
  double distance;
  std::int32_t index;
  bool operator<(const Candidate& other) const {
    return distance != other.distance ? distance < other.distance : index < other.index;
  }
};

double squared_distance(const Matrix& points, std::int64_t a, std::int64_t b) {
  return (view(points).row(a) - view(points).row(b)).squaredNorm();
}

// Returns the squared distances of rows [first, first + count) to all:  |a|^2 + |b|^2 - 2 a b
Eigen::MatrixXd distances(const Eigen::Map<const RowMajor>& x, const Eigen::VectorXd& norms,
                          Eigen::Index first, Eigen::Index count) {
  Eigen::MatrixXd squares = -2 * (x * x.middleRows(first, count).transpose());  // (n, count)
  squares.colwise() += norms;
  squares.rowwise() += norms.segment(first, count).transpose();
  return squares;
}

}  // namespace

Neighbors nearest_neighbors(const Matrix& points, std::int64_t wanted) {
  const std::int64_t n = points.rows;
  const std::int64_t k = std::clamp<std::int64_t>(wanted, 0, n - 1);
  Neighbors result{k, std::vector<std::int32_t>(static_cast<std::size_t>(n * k)),
                   std::vector<double>(static_cast<std::size_t>(n * k))};
  if (k == 0) return result;
  const Eigen::VectorXd norms = view(points).rowwise().squaredNorm();
  const std::int64_t kept = std::min(n - 1, k + kSpare);
  std::vector<Candidate> candidates(static_cast<std::size_t>(n));
  for (Eigen::Index first = 0; first < n; first += kRowsAtOnce) {
    const Eigen::Index count = std::min(kRowsAtOnce, n - first);
    const Eigen::MatrixXd squares = distances(view(points), norms, first, count);
    for (Eigen::Index i = 0; i < count; ++i) {
      candidates.clear();
      for (std::int32_t j = 0; j < n; ++j) {
        if (j != first + i) candidates.push_back({squares(j, i), j});
      }
      const auto end = candidates.begin() + kept;
      std::nth_element(candidates.begin(), end - 1, candidates.end());
      for (auto it = candidates.begin(); it != end; ++it) {  // without the cancellation above
        it->distance = squared_distance(points, first + i, it->index);
      }
      std::partial_sort(candidates.begin(), candidates.begin() + k, end);
      for (std::int64_t r = 0; r < k; ++r) {
        const auto at = static_cast<std::size_t>((first + i) * k + r);
        result.index[at] = candidates[static_cast<std::size_t>(r)].index;
        result.distance[at] = std::sqrt(candidates[static_cast<std::size_t>(r)].distance);
      }
    }
  }
  return result;
}

//   T(k) = 1 - 2 / (n k (2n - 3k - 1)) sum_i sum_{j in U_k(i)} (r(i, j) - k)
// U_k(i): neighbors of i in the map that are not neighbors among the points; r(i, j): the rank of j among
// the points.
double trustworthiness(const Matrix& points, const Matrix& map, std::int64_t k) {
  ensure(points.rows == map.rows, "a place in the map for each point");
  const std::int64_t n = points.rows;
  if (k < 1 || 2 * k >= n) return std::numeric_limits<double>::quiet_NaN();
  const Neighbors near = nearest_neighbors(map, k);
  double penalty = 0;
  std::vector<double> squares(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      squares[static_cast<std::size_t>(j)] = squared_distance(points, i, j);
    }
    for (std::int64_t r = 0; r < k; ++r) {
      const std::int32_t j = near.of(i, r);
      const double to_j = squares[static_cast<std::size_t>(j)];
      std::int64_t rank = 1;  // of j: 1 + the number of nearer points
      for (std::int64_t other = 0; other < n; ++other) {
        if (other == i || other == j) continue;
        const double to_other = squares[static_cast<std::size_t>(other)];
        rank += to_other < to_j || (to_other == to_j && other < j) ? 1 : 0;
      }
      penalty += static_cast<double>(std::max<std::int64_t>(0, rank - k));
    }
  }
  return 1 - 2 * penalty / static_cast<double>(n * k * (2 * n - 3 * k - 1));
}

namespace {

// Returns the most frequent label of a point's neighbors; in a tie, the label that comes first. `without`: a
// label that does not count.
std::int32_t vote(const Neighbors& neighbors, std::span<const std::int32_t> labels, std::int64_t point,
                  std::optional<std::int32_t> without = {}) {
  std::int64_t most = 0;
  std::int32_t elected = labels[static_cast<std::size_t>(point)];
  for (std::int64_t r = 0; r < neighbors.k; ++r) {
    const std::int32_t label = labels[static_cast<std::size_t>(neighbors.of(point, r))];
    if (label == without) continue;
    std::int64_t votes = 0;
    for (std::int64_t other = 0; other < neighbors.k; ++other) {
      votes += labels[static_cast<std::size_t>(neighbors.of(point, other))] == label ? 1 : 0;
    }
    if (votes > most) {
      most = votes;
      elected = label;
    }
  }
  return elected;
}

// Keeps the first `most` in the order of `before`.
template <class Before>
void keep_first(std::vector<Atypical>& found, std::size_t most, const Before& before) {
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(std::min(most, found.size()));
  std::partial_sort(found.begin(), end, found.end(), before);
  found.erase(end, found.end());
}

}  // namespace

std::vector<Atypical> far_from_their_class(const Matrix& points, std::span<const std::int32_t> labels,
                                           std::int64_t k, std::size_t most) {
  ensure(static_cast<std::int64_t>(labels.size()) == points.rows && !labels.empty(),
         "a label for each sample");
  std::vector<std::vector<std::int64_t>> classes(static_cast<std::size_t>(*std::ranges::max_element(labels)) +
                                                 1);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    classes[static_cast<std::size_t>(labels[i])].push_back(static_cast<std::int64_t>(i));
  }
  std::vector<Atypical> found;
  for (const std::vector<std::int64_t>& members : classes) {
    if (static_cast<std::int64_t>(members.size()) <= k + 1) continue;
    const Neighbors near = nearest_neighbors(rows_at(points, members), k);
    std::vector<double> distances;
    for (std::size_t i = 0; i < members.size(); ++i) {
      distances.push_back(near.distance_of(static_cast<std::int64_t>(i), k - 1));
    }
    std::vector<double> ordered = distances;
    const auto middle = ordered.begin() + static_cast<std::ptrdiff_t>(ordered.size() / 2);
    std::nth_element(ordered.begin(), middle, ordered.end());
    if (!(*middle > 0)) continue;
    for (std::size_t i = 0; i < members.size(); ++i) found.push_back({members[i], distances[i] / *middle});
  }
  keep_first(found, most, [](const Atypical& a, const Atypical& b) {
    return a.score != b.score ? a.score > b.score : a.point < b.point;
  });
  return found;
}

std::vector<Atypical> suspect_labels(const Neighbors& neighbors, std::span<const std::int32_t> labels,
                                     std::size_t most) {
  std::vector<Atypical> found;
  if (neighbors.k == 0) return found;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(labels.size()); ++i) {
    const std::int32_t own = labels[static_cast<std::size_t>(i)];
    std::int64_t others = 0;
    for (std::int64_t r = 0; r < neighbors.k; ++r) {
      others += labels[static_cast<std::size_t>(neighbors.of(i, r))] != own ? 1 : 0;
    }
    if (2 * others <= neighbors.k) continue;
    found.push_back(
        {i, static_cast<double>(others) / static_cast<double>(neighbors.k), vote(neighbors, labels, i, own)});
  }
  keep_first(found, most, [&](const Atypical& a, const Atypical& b) {
    if (a.score != b.score) return a.score > b.score;
    const double to_a = neighbors.distance_of(a.point, 0);
    const double to_b = neighbors.distance_of(b.point, 0);
    return to_a != to_b ? to_a < to_b : a.point < b.point;
  });
  return found;
}

double neighbor_accuracy(const Neighbors& neighbors, std::span<const std::int32_t> labels) {
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(labels.size()); ++i) {
    right += neighbors.k > 0 && vote(neighbors, labels, i) == labels[static_cast<std::size_t>(i)] ? 1 : 0;
  }
  return labels.empty() ? 0 : static_cast<double>(right) / static_cast<double>(labels.size());
}

}  // namespace convoke::explore
