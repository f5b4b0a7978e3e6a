#pragma once
#include "convoke/nn/graph.hpp"
#include "convoke/nn/layers/conv2d.hpp"

namespace convoke::nn {

class PlanBuilder;

/// True for a conv2d and a max_pool that kernels/conv2d_max_pool.hpp do in one pass: 3 x 3 on at most
/// 4 channels of the network's input, a multiple of 16 filters, 2 x 2 windows. With more channels oneDNN's
/// arithmetic is worth more than the passes over memory that are saved.
bool suits_conv2d_max_pool(const Graph& graph, const Node& conv, const Node& pool);

/// Compiles `node`, a convolution that has taken its pooling in (fusion.hpp).
void compile_conv2d_max_pool(PlanBuilder& plan, const Node& node, const Conv2dOptions& options);

}  // namespace convoke::nn
