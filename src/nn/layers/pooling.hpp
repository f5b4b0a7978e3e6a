#pragma once
#include "convoke/nn/layers/pool.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

/// Throws Error if the padding of `options` leaves a window nothing to see.
void require_less_padding(const PoolOptions& options);
/// The windows over images (C, H, W). Throws Error if none fits.
Window2d pool_windows(const Shape& image, const PoolOptions& options);

/// Compile a pooling, forward and backward, of what node.inputs[0] gives: images, or sequences as images of
/// one row.
void compile_max_pool(PlanBuilder& plan, const Node& node, const PoolOptions& options);
void compile_average_pool(PlanBuilder& plan, const Node& node, const PoolOptions& options);

}  // namespace convoke::nn
