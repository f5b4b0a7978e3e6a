#include "convoke/metrics/scores.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "convoke/core/error.hpp"

namespace convoke::metrics {
namespace {

// Returns the scores in ascending order, with whether each belongs to class `positive`; none if one is NaN.
std::vector<std::pair<double, bool>> ranked(std::span<const double> scores,
                                            std::span<const std::int32_t> truth, std::int32_t positive) {
  ensure(scores.size() == truth.size(), "a score for each sample");
  std::vector<std::pair<double, bool>> samples;
  samples.reserve(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) return {};
    samples.emplace_back(scores[i], truth[i] == positive);
  }
  std::ranges::sort(samples);
  return samples;
}

}  // namespace

std::int64_t top_k_hits(std::span<const double> probabilities, std::span<const std::int32_t> truth,
                        std::int64_t k) {
  if (truth.empty()) return 0;
  ensure(probabilities.size() % truth.size() == 0, "every sample has equally many probabilities");
  const std::size_t classes = probabilities.size() / truth.size();
  std::int64_t hits = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto label = static_cast<std::size_t>(truth[i]);
    ensure(label < classes, "the label of a sample is a valid class");
    const std::span<const double> row = probabilities.subspan(i * classes, classes);
    std::int64_t before = 0;  // classes that come before the true one; negated, for NaN
    for (std::size_t c = 0; c < classes; ++c) {
      before += c != label && !(row[c] < row[label]) && !(row[c] == row[label] && c > label);
    }
    hits += before < k;
  }
  return hits;
}

//   kappa = 1 - sum_ij (i - j)^2 O_ij / sum_ij (i - j)^2 E_ij     E_ij = sum_k O_ik  sum_k O_kj / n
double quadratic_kappa(const ConfusionMatrix& matrix) {
  const std::int64_t classes = matrix.classes();
  std::vector<double> truth(static_cast<std::size_t>(classes));
  std::vector<double> predicted(static_cast<std::size_t>(classes));
  const auto weight = [](std::int64_t i, std::int64_t j) { return static_cast<double>((i - j) * (i - j)); };
  double observed = 0;
  for (std::int64_t i = 0; i < classes; ++i) {
    for (std::int64_t j = 0; j < classes; ++j) {
      const auto count = static_cast<double>(matrix.at(i, j));
      truth[static_cast<std::size_t>(i)] += count;
      predicted[static_cast<std::size_t>(j)] += count;
      observed += weight(i, j) * count;
    }
  }
  double expected = 0;  // times n
  for (std::int64_t i = 0; i < classes; ++i) {
    for (std::int64_t j = 0; j < classes; ++j) {
      expected += weight(i, j) * truth[static_cast<std::size_t>(i)] * predicted[static_cast<std::size_t>(j)];
    }
  }
  if (expected == 0) return std::numeric_limits<double>::quiet_NaN();
  return 1 - observed * static_cast<double>(matrix.total()) / expected;
}

double RocPairs::area() const {
  if (positives == 0 || negatives == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(twice_ordered) /
         (2 * static_cast<double>(positives) * static_cast<double>(negatives));
}

//   2 U = sum over positives p of  2 #{negatives below p} + #{negatives that tie with p}
RocPairs roc_pairs(std::span<const double> scores, std::span<const std::int32_t> truth,
                   std::int32_t positive) {
  const std::vector<std::pair<double, bool>> all = ranked(scores, truth, positive);
  RocPairs pairs;
  for (std::size_t first = 0; first < all.size();) {
    std::int64_t tied[] = {0, 0};  // negatives, positives of one score
    std::size_t end = first;
    for (; end < all.size() && all[end].first == all[first].first; ++end) ++tied[all[end].second];
    pairs.twice_ordered += tied[1] * (2 * pairs.negatives + tied[0]);
    pairs.negatives += tied[0];
    pairs.positives += tied[1];
    first = end;
  }
  return pairs;
}

std::vector<double> roc_grid() {
  constexpr int kSteps = 40;
  std::vector<double> grid;
  for (int i = 0; i <= kSteps; ++i) grid.push_back(static_cast<double>(i * i) / (kSteps * kSteps));
  return grid;
}

std::vector<double> roc_curve(std::span<const double> scores, std::span<const std::int32_t> truth,
                              std::int32_t positive) {
  std::vector<std::pair<double, bool>> samples = ranked(scores, truth, positive);
  std::ranges::reverse(samples);
  std::int64_t all[] = {0, 0};  // negatives, positives
  for (const auto& [score, is_positive] : samples) ++all[is_positive];
  if (all[0] == 0 || all[1] == 0) return {};

  // Each group of equal scores is a segment from (x0, y0) to (x1, y1).
  const std::vector<double> grid = roc_grid();
  std::vector<double> curve(grid.size(), 1.0);
  std::int64_t found[] = {0, 0};
  const auto x = [&] { return static_cast<double>(found[0]) / static_cast<double>(all[0]); };
  const auto y = [&] { return static_cast<double>(found[1]) / static_cast<double>(all[1]); };
  std::size_t next = 0;
  for (std::size_t i = 0; i < samples.size();) {
    const double x0 = x(), y0 = y(), score = samples[i].first;
    for (; i < samples.size() && samples[i].first == score; ++i) ++found[samples[i].second];
    for (; next < grid.size() && grid[next] < x(); ++next)
      curve[next] = y0 + (y() - y0) * (grid[next] - x0) / (x() - x0);
  }
  return curve;
}

double roc_auc(std::span<const RocPairs> classes) {
  if (classes.size() == 2) return classes[1].area();
  double sum = 0;
  for (const RocPairs& pairs : classes) sum += pairs.area();
  return sum / static_cast<double>(classes.size());
}

Calibration::Calibration(std::int64_t bins) : counts_(static_cast<std::size_t>(3 * bins)) {
  assert(bins > 0);
}

void Calibration::add(double confidence, bool correct) {
  const double known = confidence >= 0 ? std::min(confidence, 1.0) : 0.0;  // NaN: the comparison fails
  const auto above = static_cast<std::int64_t>(std::ceil(known * static_cast<double>(bins())));
  const auto at = static_cast<std::size_t>(3 * std::clamp<std::int64_t>(above - 1, 0, bins() - 1));
  ++counts_[at];
  counts_[at + 1] += correct ? 1 : 0;
  counts_[at + 2] += std::llrint(std::ldexp(known, 32));
}

Calibration::Bin Calibration::bin(std::int64_t b) const {
  const auto at = static_cast<std::size_t>(3 * b);
  Bin result{.samples = counts_[at]};
  if (result.samples == 0) return result;
  const auto samples = static_cast<double>(result.samples);
  result.accuracy = static_cast<double>(counts_[at + 1]) / samples;
  result.confidence = std::ldexp(static_cast<double>(counts_[at + 2]), -32) / samples;
  return result;
}

//   ECE = sum_b n_b / n |accuracy_b - confidence_b|
double Calibration::expected_error() const {
  double sum = 0;
  std::int64_t samples = 0;
  for (std::int64_t b = 0; b < bins(); ++b) {
    const Bin each = bin(b);
    sum += static_cast<double>(each.samples) * std::abs(each.accuracy - each.confidence);
    samples += each.samples;
  }
  return samples > 0 ? sum / static_cast<double>(samples) : std::numeric_limits<double>::quiet_NaN();
}

//   MCE = max_b |accuracy_b - confidence_b| over bins that have samples
double Calibration::maximum_error() const {
  double largest = std::numeric_limits<double>::quiet_NaN();
  for (std::int64_t b = 0; b < bins(); ++b) {
    const Bin each = bin(b);
    if (each.samples > 0) largest = std::fmax(largest, std::abs(each.accuracy - each.confidence));
  }
  return largest;
}

}  // namespace convoke::metrics
