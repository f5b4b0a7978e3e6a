#include "convoke/nn/layers/slice.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/core/error.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/pieces.hpp"
#include "nn/layers/copy_box_plan.hpp"

namespace convoke::nn {

Shape Slice::output_shape(std::span<const ValueSpec> inputs) const {
  const std::size_t axis = options_.axis.in(inputs[0]);
  const std::int64_t extent = inputs[0][axis], begin = options_.begin;
  const std::int64_t size = options_.size == 0 ? extent - begin : options_.size;
  if (begin < 0 || size < 1 || begin + size > extent) {
    throw Error(fmt::format("cannot take {} {} from position {} of its input {}", size, options_.axis.name(),
                            begin, inputs[0].with_batch()),
                fmt::format("begin + size may be up to {}", extent));
  }
  std::vector<std::int64_t> extents = inputs[0].extents();
  extents[axis] = size;
  return Shape(extents);
}

Slice::Keys Slice::keys() {
  using O = SliceOptions;
  static constexpr std::array kKeys{
      kAxis<O>,
      key<&O::begin>({.name = "begin", .range = kNotNegative, .help = "first index along the axis"}),
      key<&O::size>(
          {.name = "size", .range = kNotNegative, .help = "number of elements; 0: all that follow"})};
  return kKeys;
}

void Slice::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  const std::size_t axis = options_.axis.in(node.shape), rank = node.shape.rank();
  ChannelBlocks whole, part;
  const Tensor x = cuttable(plan, from, node, whole);
  const Tensor y = plan.allocate(with_layout_of(whole, plan.batched(node.shape), plan.stored()));
  channel_blocks(y.desc, part);
  const CopyBox box{place_of(whole, axis, rank, options_.begin), place_of(part, axis, rank, 0), part.channels,
                    part.height, part.width};
  plan.add_typed_kernel(
      y.desc, node, "forward",
      [=]<class T>(const Frame& frame) {
        kernels<CopyBoxKernels<T>>().copy_box(box, frame.at<T>(x), frame.at<T>(y), false);
        clear_padding(part, frame.at<T>(y));
      },
      {x.ref, y.ref}, y);
  plan.set_value(node.index, y);

  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    CopyBox back = box;
    std::swap(back.from, back.to);
    give_part(plan, node, from, x, dy, back);
  });
}

std::vector<Symbol> split(Symbol x, std::int64_t parts, const Axis& axis) {
  const Shape& shape = x.graph->node(x.node).shape;
  const std::int64_t extent = shape[axis.in(shape)];
  if (parts < 1 || extent % parts != 0) {
    throw Error(fmt::format("{} {} of {} cannot be split into {} equal parts", extent, axis.name(),
                            shape.with_batch(), parts),
                "use slice for parts of different sizes");
  }
  std::vector<Symbol> slices;
  for (std::int64_t i = 0; i < parts; ++i)
    slices.push_back(slice(x, {.axis = axis, .begin = i * extent / parts, .size = extent / parts}));
  return slices;
}

}  // namespace convoke::nn
