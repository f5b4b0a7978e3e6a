#pragma once
#include "nn/layers/convolution.hpp"

namespace convoke::nn {

/// Adds our own pass for d loss / d weight and bias of a depthwise convolution, from x and dy in blocks of
/// channels. Returns false, and adds nothing, if our kernels do not support this convolution.
bool add_depthwise_gradient(PlanBuilder& plan, const Node& node, const ConvolutionSpec& spec, const Tensor& x,
                            const Tensor& dy);

/// Adds d loss / d x of a depthwise convolution with a stride of 1 by oneDNN's forward kernel with flipped
/// weights, which is about twice as fast as its kernel for this gradient. `x`, `dy`: the layouts of x and dy,
/// `weighted`: the layer's parameters. Returns an empty tensor, and adds nothing, for other convolutions.
Tensor add_depthwise_data_gradient(PlanBuilder& plan, const Node& node, const ConvolutionSpec& spec,
                                   const WeightedPrimitive& weighted, const Desc& x, const Tensor& dy);

}  // namespace convoke::nn
