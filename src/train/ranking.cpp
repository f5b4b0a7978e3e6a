#include "convoke/train/ranking.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "convoke/metrics/scores.hpp"
#include "convoke/mpi/together.hpp"

namespace convoke::train {
namespace {

constexpr double kUndefined = -1;  // marks a curve that does not exist: a share is at least 0

}  // namespace

Ranking rank(std::span<const double> probabilities, std::span<const std::int32_t> truth, std::int64_t classes,
             std::int64_t k, const mpi::Communicator& group) {
  std::int64_t sums[] = {static_cast<std::int64_t>(truth.size()),
                         k > 0 ? metrics::top_k_hits(probabilities, truth, k) : 0};
  group.sum(sums);

  // Class c is counted by rank c % size.
  std::vector<std::int32_t> all_truth;
  for (int root = 0; root < group.size(); ++root) {
    std::vector<std::int32_t> gathered = mpi::gather_values(group, truth, root);
    if (root == group.rank()) all_truth = std::move(gathered);
  }
  std::vector<std::int64_t> counts(static_cast<std::size_t>(3 * classes));
  const std::size_t points = metrics::roc_grid().size();
  std::vector<double> curves(static_cast<std::size_t>(classes) * points);  // zeros where another rank counts
  std::vector<double> mine(truth.size());
  for (std::size_t c = 0; c < static_cast<std::size_t>(classes); ++c) {
    for (std::size_t i = 0; i < mine.size(); ++i) {
      mine[i] = probabilities[i * static_cast<std::size_t>(classes) + c];
    }
    const int root = static_cast<int>(c) % group.size();
    const std::vector<double> scores = mpi::gather_values(group, mine, root);
    if (root != group.rank()) continue;
    const metrics::RocPairs pairs = metrics::roc_pairs(scores, all_truth, static_cast<std::int32_t>(c));
    const std::vector<double> curve = metrics::roc_curve(scores, all_truth, static_cast<std::int32_t>(c));
    std::copy(curve.begin(), curve.end(), curves.begin() + static_cast<std::ptrdiff_t>(c * points));
    if (curve.empty()) curves[c * points] = kUndefined;
    counts[3 * c] = pairs.twice_ordered;
    counts[3 * c + 1] = pairs.positives;
    counts[3 * c + 2] = pairs.negatives;
  }
  group.sum(counts);
  group.sum(curves);

  Ranking ranking{.k = k};
  if (k > 0 && k < classes && sums[0] > 0) {
    ranking.top_k_accuracy = static_cast<double>(sums[1]) / static_cast<double>(sums[0]);
  }
  std::vector<metrics::RocPairs> pairs;
  for (std::size_t i = 0; i < counts.size(); i += 3) {
    pairs.push_back({counts[i], counts[i + 1], counts[i + 2]});
  }
  ranking.roc_auc = metrics::roc_auc(pairs);
  for (std::size_t c = classes == 2 ? 1 : 0; c < static_cast<std::size_t>(classes); ++c) {
    const auto first = curves.begin() + static_cast<std::ptrdiff_t>(c * points);
    std::vector<double>& curve =
        ranking.roc_curves.emplace_back(first, first + static_cast<std::ptrdiff_t>(points));
    if (curve.front() == kUndefined) curve.assign(points, std::numeric_limits<double>::quiet_NaN());
  }
  return ranking;
}

}  // namespace convoke::train
