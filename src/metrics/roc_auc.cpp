#include "convoke/metrics/roc_auc.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "convoke/core/error.hpp"

namespace convoke::metrics {

double RocPairs::area() const {
  if (positives == 0 || negatives == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(twice_ordered) /
         (2 * static_cast<double>(positives) * static_cast<double>(negatives));
}

//   2 U = sum over positives p of  2 #{negatives below p} + #{negatives that tie with p}
RocPairs roc_pairs(std::span<const double> scores, std::span<const std::int32_t> truth,
                   std::int32_t positive) {
  ensure(scores.size() == truth.size(), "a score for each sample");
  std::vector<std::pair<double, bool>> ranked;
  ranked.reserve(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) return {};
    ranked.emplace_back(scores[i], truth[i] == positive);
  }
  std::sort(ranked.begin(), ranked.end());
  RocPairs pairs;
  for (std::size_t first = 0; first < ranked.size();) {
    std::int64_t tied[] = {0, 0};  // negatives, positives of one score
    std::size_t end = first;
    for (; end < ranked.size() && ranked[end].first == ranked[first].first; ++end) ++tied[ranked[end].second];
    pairs.twice_ordered += tied[1] * (2 * pairs.negatives + tied[0]);
    pairs.negatives += tied[0];
    pairs.positives += tied[1];
    first = end;
  }
  return pairs;
}

double roc_auc(std::span<const RocPairs> classes) {
  if (classes.size() == 2) return classes[1].area();
  double sum = 0;
  for (const RocPairs& pairs : classes) sum += pairs.area();
  return sum / static_cast<double>(classes.size());
}

}  // namespace convoke::metrics
