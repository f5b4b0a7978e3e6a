#pragma once
#include <cstdint>
#include <span>

namespace convoke::metrics {

/// On how many samples the true class is among the `k` most probable, among equals the lowest label first. A
/// true class whose probability is NaN is not. `probabilities`: (samples, classes), dense; `truth`:
/// (samples), each in 0..classes-1.
std::int64_t top_k_hits(std::span<const double> probabilities, std::span<const std::int32_t> truth,
                        std::int64_t k);

}  // namespace convoke::metrics
