#pragma once
#include "convoke/nn/graph.hpp"
#include "convoke/nn/layers/conv2d.hpp"

namespace convoke::nn {

class PlanBuilder;

/// Compiles `node`, a convolution of the network's input that has taken its pooling in (fusion.hpp), by
/// kernels/conv2d_max_pool.hpp.
void compile_conv2d_max_pool(PlanBuilder& plan, const Node& node, const Conv2dOptions& options);

}  // namespace convoke::nn
