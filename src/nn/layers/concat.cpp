#include "convoke/nn/layers/concat.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/core/error.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/pieces.hpp"
#include "nn/layers/copy_box_plan.hpp"

namespace convoke::nn {
namespace {

struct Part {
  std::size_t from;
  Tensor value;
  CopyBox box;  ///< copies from the input to the output
};

/// Returns the layout of the result: that of the first part that is blocked for oneDNN, or else of the first
/// part.
ChannelBlocks layout_of(const std::vector<ChannelBlocks>& parts) {
  for (const ChannelBlocks& blocks : parts) {
    if (blocks.nested) return blocks;
  }
  return parts.front();
}

}  // namespace

Shape Concat::output_shape(std::span<const ValueSpec> inputs) const {
  const std::size_t axis = options_.axis.in(inputs[0]);
  std::vector<std::int64_t> whole = inputs[0].extents();
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    bool fits = inputs[i].rank() == whole.size();
    for (std::size_t d = 0; fits && d < whole.size(); ++d) fits = d == axis || inputs[i][d] == inputs[0][d];
    if (!fits) {
      throw Error(
          fmt::format("its inputs {} and {} may differ only in their {}", inputs[0].with_batch(),
                      inputs[i].with_batch(), options_.axis.name()),
          "give both the same size, for example with padding = \"same\" or the same stride on both paths");
    }
    whole[axis] += inputs[i][axis];
  }
  return Shape(whole);
}

Concat::Keys Concat::keys() {
  static constexpr std::array kKeys{kAxis<ConcatOptions>};
  return kKeys;
}

void Concat::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t axis = options_.axis.in(node.shape), rank = node.shape.rank();
  std::vector<Tensor> values;
  std::vector<ChannelBlocks> layouts(node.inputs.size());
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    values.push_back(cuttable(plan, node.inputs[i], node, layouts[i]));
  const Tensor y = plan.allocate(with_layout_of(layout_of(layouts), plan.batched(node.shape), plan.stored()));
  ChannelBlocks whole;
  channel_blocks(y.desc, whole);
  std::vector<Part> parts;
  std::vector<Ref> uses{y.ref};
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ChannelBlocks& part = layouts[i];
    parts.push_back({node.inputs[i],
                     values[i],
                     {place_of(part, axis, rank, 0), place_of(whole, axis, rank, begin), part.channels,
                      part.height, part.width}});
    begin += plan.graph().node(node.inputs[i]).shape[axis];
    uses.push_back(values[i].ref);
  }
  plan.add_typed_kernel(
      y.desc, node, "forward",
      [=]<class T>(const Frame& frame) {
        for (const Part& part : parts)
          kernels<CopyBoxKernels<T>>().copy_box(part.box, frame.at<T>(part.value), frame.at<T>(y), false);
        clear_padding(whole, frame.at<T>(y));
      },
      uses, y);
  plan.set_value(node.index, y);

  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    for (const Part& part : parts) {
      if (!plan.needs_gradient(part.from)) continue;
      CopyBox back = part.box;
      std::swap(back.from, back.to);
      give_part(plan, node, part.from, part.value, dy, back);
    }
  });
}

}  // namespace convoke::nn
