#pragma once
#include "convoke/nn/layers/pool.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

/// Compile a pooling of the value of node.inputs[0], forward and backward: images, or sequences as images of
/// one row.
void compile_max_pool(PlanBuilder& plan, const Node& node, const PoolOptions& options);
void compile_average_pool(PlanBuilder& plan, const Node& node, const PoolOptions& options);

}  // namespace convoke::nn
