#include "convoke/metrics/calibration.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace convoke::metrics {

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
