#pragma once
#include "convoke/nn/graph.hpp"
#include "convoke/nn/layers/conv2d.hpp"

namespace convoke::nn {

class PlanBuilder;

/// Compiles `node`, a convolution of the network's input that includes its pooling (fusion.hpp), with
/// kernels/conv2d_max_pool.hpp.
void compile_conv2d_max_pool(PlanBuilder& plan, const Node& node, const Conv2dOptions& options);

}  // namespace convoke::nn
