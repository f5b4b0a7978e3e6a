#pragma once
#include <vector>

#include "nn/kernels/copy_box.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

/// Returns a node's value for layers that cut or join it along its axes, in a layout that copy_box reads and
/// in the type stored(). A vector is (N, F), even if it is a flattened image.
Tensor cuttable(PlanBuilder& plan, std::size_t node, const Node& reader, ChannelBlocks& blocks);

/// Returns where position `begin` of axis `axis` (of a shape with `rank` axes) is in memory.
CopyBox::Place place_of(const ChannelBlocks& blocks, std::size_t axis, std::size_t rank, std::int64_t begin);

/// Adds the step that copies the part `from` of the gradient dy to the gradient of `node`, at `to` in
/// `value`. The part is added to the gradient that other readers gave; the first reader sets the rest to 0.
void give_part(PlanBuilder& plan, const Node& reader, std::size_t node, const Tensor& value, const Tensor& dy,
               const CopyBox& box);

}  // namespace convoke::nn
