#pragma once
#include "convoke/nn/graph.hpp"
#include "convoke/nn/layers/conv2d.hpp"
#include "convoke/nn/layers/pool.hpp"

namespace convoke::nn {

class PlanBuilder;

/// True for the convolutions and poolings that kernels/conv2d_max_pool.hpp does in one pass: 3 x 3 on at most
/// 4 channels of the network's input, a multiple of 16 filters, 2 x 2 windows. With more channels oneDNN's
/// arithmetic is worth more than the passes over memory that are saved.
bool suits_conv2d_max_pool(const Conv2dOptions& conv, std::size_t input, std::int64_t channels,
                           const PoolOptions& pool);

/// Compiles `node`, a convolution that has taken its pooling in (fusion.hpp).
void compile_conv2d_max_pool(PlanBuilder& plan, const Node& node, const Conv2dOptions& options);

}  // namespace convoke::nn
