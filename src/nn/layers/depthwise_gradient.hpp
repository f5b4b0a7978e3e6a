#pragma once
#include "nn/layers/convolution.hpp"

namespace convoke::nn {

/// Adds our own pass for d loss / d weight and bias of a depthwise convolution, from x and dy in blocks of
/// channels. False, and nothing added, if it has no form for this one.
bool add_depthwise_gradient(PlanBuilder& plan, const Node& node, const ConvolutionSpec& spec, const Tensor& x,
                            const Tensor& dy);

}  // namespace convoke::nn
