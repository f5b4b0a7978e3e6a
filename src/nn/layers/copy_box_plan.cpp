#include "nn/layers/copy_box_plan.hpp"

#include <algorithm>

#include "nn/kernels/instruction_sets.hpp"
namespace convoke::nn {

Tensor cuttable(PlanBuilder& plan, std::size_t node, const Node& reader, ChannelBlocks& blocks) {
  const Tensor value = plan.value_as(node, plan.stored(), reader);
  const Dims dims = dims_of(value.desc);
  const bool folded = plan.graph().node(node).shape.rank() == 1 && dims.size() == 4 && dims[2] * dims[3] > 1;
  return plan.blocked(folded ? plan.flat(value, reader) : value, reader, blocks);
}

// Axes of images are channels, rows, columns. Sequences (L, F) are stored as (F, 1, L): columns, channels.
// Vectors have channels only.
CopyBox::Place place_of(const ChannelBlocks& blocks, std::size_t axis, std::size_t rank, std::int64_t begin) {
  CopyBox::Place place{.blocks = blocks};
  if (rank == 2) {
    (axis == 0 ? place.column : place.channel) = begin;
  } else {
    (axis == 0 ? place.channel : axis == 1 ? place.row : place.column) = begin;
  }
  return place;
}

void give_part(PlanBuilder& plan, const Node& reader, std::size_t node, const Tensor& value, const Tensor& dy,
               const CopyBox& box) {
  const Tensor given = plan.gradient(node);
  CopyBox target = box;
  const bool add = given && given.exclusive && type_of(given.desc) == type_of(dy.desc) &&
                   dims_of(given.desc) == dims_of(value.desc) && channel_blocks(given.desc, target.to.blocks);
  if (!add) target.to.blocks = box.to.blocks;
  const Tensor dx = add ? given : plan.allocate(value.desc);
  const ChannelBlocks& whole = target.to.blocks;
  const std::size_t count = elements_of(dx.desc);
  // Elements outside the box, and padding, are 0.
  const bool fill = !add && (target.channels != whole.padded_channels() || target.rows != whole.height ||
                             target.columns != whole.width);
  plan.add_typed_kernel(
      dy.desc, reader, add ? "backward, added" : "backward",
      [=]<class T>(const Frame& frame) {
        if (fill) std::fill_n(frame.at<T>(dx), count, T{});
        kernels<CopyBoxKernels<T>>().copy_box(target, frame.at<T>(dy), frame.at<T>(dx), add);
      },
      {dy.ref, dx.ref}, dx);
  if (!add) plan.add_gradient(node, dx, reader);
}

}  // namespace convoke::nn
