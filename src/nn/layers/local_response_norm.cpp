#include "convoke/nn/layers/local_response_norm.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/core/error.hpp"
#include "nn/kernels/local_response_norm.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

Shape LocalResponseNorm::output_shape(std::span<const ValueSpec> inputs) const {
  if (inputs[0].rank() != 3) {
    throw Error(fmt::format("needs an image (N, C, H, W), but its input is {}", inputs[0].with_batch()),
                "use layer_norm for sequences and vectors");
  }
  return inputs[0];
}

LocalResponseNorm::Keys LocalResponseNorm::keys() {
  using O = LocalResponseNormOptions;
  static constexpr std::array kKeys{
      key<&O::size>({.name = "size", .range = kAtLeastOne, .help = "neighboring channels in the sum"}),
      key<&O::alpha>({.name = "alpha",
                      .range = kNotNegative,
                      .help = "factor of the sum, divided by the size as in PyTorch"}),
      key<&O::beta>({.name = "beta", .help = "exponent"}),
      key<&O::k>({.name = "k", .range = kPositive, .help = "added to the sum"})};
  return kKeys;
}

// The layer is rare, so it has only an fp32 form.
void LocalResponseNorm::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  ChannelBlocks blocks;
  const Tensor x = plan.blocked(plan.value_as(from, kFloat, node), node, blocks);
  const Tensor y = plan.allocate(x.desc);
  const LocalResponse by{options_.size, static_cast<float>(options_.alpha), static_cast<float>(options_.beta),
                         static_cast<float>(options_.k)};
  const Ref scratch = plan.allocate_numbers(3 * blocks.channels);
  plan.add_kernel(
      node, "forward",
      [=](const Frame& frame) {
        local_response_norm_forward(blocks, by, frame.at(x), frame.at(scratch), frame.at(y));
      },
      {x.ref, y.ref, scratch}, y);
  plan.set_value(node.index, y);
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    const Tensor dx = plan.in_place_of(dy);
    const Ref room = plan.allocate_numbers(3 * blocks.channels);
    plan.add_kernel(
        node, "backward",
        [=](const Frame& frame) {
          local_response_norm_backward(blocks, by, frame.at(x), frame.at(dy), frame.at(room), frame.at(dx));
        },
        {x.ref, dy.ref, dx.ref, room}, dx);
    plan.add_gradient(from, dx, node);
  });
}

}  // namespace convoke::nn
