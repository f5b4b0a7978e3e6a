#pragma once
#include <cstddef>

#include "convoke/nn/plan/network.hpp"

namespace convoke::nn {

/// What activation_bytes() of such a network would be, scratch memory included: compiles it, but takes no
/// memory for its arena. Throws as Network does.
std::size_t predict_activation_bytes(const Graph& graph, const ParameterLayout& layout,
                                     const PlanOptions& options);

/// Bytes of the WorkingWeights of a layout.
std::size_t predict_working_bytes(const ParameterLayout& layout);

}  // namespace convoke::nn
