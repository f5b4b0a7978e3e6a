#include "convoke/nn/layers/channel_shuffle.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/core/error.hpp"
#include "nn/kernels/copy_box.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/layers/copy_box_plan.hpp"

namespace convoke::nn {

Shape ChannelShuffle::output_shape(std::span<const ValueSpec> inputs) const {
  const Shape& in = inputs[0];
  const std::int64_t channels = in[in.rank() == 2 ? 1 : 0];
  if (channels % options_.groups != 0) {
    throw Error(fmt::format("{} groups do not divide the {} channels of its input {}", options_.groups,
                            channels, in.with_batch()),
                "choose groups that divide the channels");
  }
  return in;
}

ChannelShuffle::Keys ChannelShuffle::keys() {
  static constexpr std::array kKeys{
      key<&ChannelShuffleOptions::groups>({.name = "groups",
                                           .range = kAtLeastOne,
                                           .required = true,
                                           .help = "number of groups; must divide the channels"})};
  return kKeys;
}

void ChannelShuffle::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  ChannelBlocks blocks;
  const Tensor x = cuttable(plan, from, node, blocks);
  const auto add_step = [&plan, &node, blocks](const char* what, const Tensor& in, std::int64_t groups) {
    const Tensor out = plan.allocate(in.desc);
    plan.add_typed_kernel(
        in.desc, node, what,
        [=]<class T>(const Frame& frame) {
          kernels<CopyBoxKernels<T>>().channel_shuffle(blocks, groups, frame.at<T>(in), frame.at<T>(out));
        },
        {in.ref, out.ref}, out);
    return out;
  };
  plan.set_value(node.index, add_step("forward", x, options_.groups));
  const std::int64_t inverse = blocks.channels / options_.groups;
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    plan.add_gradient(from, add_step("backward", dy, inverse), node);
  });
}

}  // namespace convoke::nn
