#pragma once
#include "nn/layers/convolution.hpp"

namespace convoke::nn {

/// Adds our own pass for d loss / d weight and bias of a depthwise convolution, from x and dy in blocks of
/// channels. Returns false, and adds nothing, if our kernels do not support this convolution.
bool add_depthwise_gradient(PlanBuilder& plan, const Node& node, const ConvolutionSpec& spec, const Tensor& x,
                            const Tensor& dy);

}  // namespace convoke::nn
