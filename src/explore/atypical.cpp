#include "convoke/explore/atypical.hpp"

#include <algorithm>
#include <optional>

#include "convoke/core/error.hpp"

namespace convoke::explore {
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
