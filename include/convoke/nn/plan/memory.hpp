#pragma once
#include <cstddef>

#include "convoke/nn/plan/network.hpp"

namespace convoke::nn {

/// Returns what activation_bytes() of such a network would be, scratch memory included. Compiles the network,
/// but does not allocate its arena. Throws as Network does.
std::size_t predict_activation_bytes(const Graph& graph, const ParameterLayout& layout,
                                     const PlanOptions& options);

/// Returns the bytes of the WorkingWeights of a layout.
std::size_t predict_working_bytes(const ParameterLayout& layout);

}  // namespace convoke::nn
