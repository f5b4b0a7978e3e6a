#pragma once
#include <span>
#include <string>
#include <vector>

#include "convoke/nn/graph.hpp"

namespace convoke::interop {

/// Throws Error naming `file` and the parameters among `values` (canonical) with NaN or infinite values, or
/// with variances that are negative even with epsilon: the outputs would be NaN. Returns a sentence for each
/// parameter with variances that only epsilon makes positive.
std::vector<std::string> require_sound(const nn::Graph& graph, std::span<const float> values,
                                       const std::string& file);

}  // namespace convoke::interop
