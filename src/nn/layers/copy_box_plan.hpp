#pragma once
#include <vector>

#include "nn/kernels/copy_box.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

/// A node's value as its axes lie in memory, for layers that cut or join them: a vector is (N, F), also where
/// it is an image that was flattened. In a layout that copy_box reads, as stored().
Tensor cuttable(PlanBuilder& plan, std::size_t node, const Node& reader, ChannelBlocks& blocks);

/// Where position `begin` of axis `axis` (of a shape with `rank` axes) is in memory.
CopyBox::Place place_of(const ChannelBlocks& blocks, std::size_t axis, std::size_t rank, std::int64_t begin);

/// Adds the step that takes the part `from` of the gradient dy to the gradient of `node`, at `to` in `value`:
/// into what other readers have given already, or else with 0 around it.
void give_part(PlanBuilder& plan, const Node& reader, std::size_t node, const Tensor& value, const Tensor& dy,
               const CopyBox& box);

}  // namespace convoke::nn
