#pragma once
#include <cstdint>
#include <span>

namespace convoke::metrics {

/// Returns the number of samples whose true class is among the `k` most probable; of equally probable classes
/// the lowest label comes first. A true class with probability NaN does not count. `probabilities`: (samples,
/// classes), dense; `truth`: (samples), each in 0..classes-1.
std::int64_t top_k_hits(std::span<const double> probabilities, std::span<const std::int32_t> truth,
                        std::int64_t k);

}  // namespace convoke::metrics
