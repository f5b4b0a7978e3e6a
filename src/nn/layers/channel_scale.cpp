#include "convoke/nn/layers/channel_scale.hpp"

#include "nn/kernels/scale_shift.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

std::vector<ParameterSpec> ChannelScale::parameters(std::span<const ValueSpec> inputs) const {
  const Initializer initial(Settings{{"name", "constant"}, {"value", options_.initial}});
  return {{.name = "gamma", .shape = {channels_of(inputs[0])}, .initializer = initial}};
}

LayerPtr ChannelScale::make(SettingsReader& read) {
  ChannelScaleOptions o;
  o.initial = read.get("initial", o.initial);
  return std::make_shared<ChannelScale>(o);
}

void ChannelScale::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  ChannelBlocks blocks;
  const Tensor x = plan.blocked_by_channel(from, node, blocks);
  const Tensor y = plan.allocate(x.desc);
  plan.prefer(node, "gamma", Desc({blocks.channels}, kFloat, Format::x));
  const Ref gamma = plan.parameter(node, "gamma").ref;
  with_stored_type(x.desc, [&](auto zero) {
    using T = decltype(zero);
    plan.add_kernel(
        node, "forward",
        [=](const Frame& frame) {
          scale_shift(blocks, {.scale = frame.at(gamma)}, frame.at<T>(x), frame.at<T>(y));
        },
        {x.ref, y.ref}, y);
  });
  plan.set_value(node.index, y);
  if (!plan.training()) return;
  plan.on_backward([=, &plan, &node] {
    const Tensor dy = plan.gradient_like_value(node.index, node);
    if (!dy) return;
    const Tensor dx = dy.exclusive ? dy : plan.allocate(dy.desc);
    const Ref dgamma = plan.gradient_of(node, "gamma").ref;
    with_stored_type(dy.desc, [&](auto zero) {
      using T = decltype(zero);
      plan.add_kernel(node, "backward",
                      [=](const Frame& frame) {
                        channel_scale_backward(blocks, frame.at(gamma), frame.at<T>(x), frame.at<T>(dy),
                                               frame.at<T>(dx), frame.at(dgamma));
                      },
                      {x.ref, dy.ref, dx.ref}, dx, 0, {plan.slot(node, "gamma")});
    });
    plan.add_gradient(from, dx, node);
  });
}

Symbol channel_scale(Symbol x, ChannelScaleOptions options) {
  return {x.graph, x.graph->add(std::make_shared<ChannelScale>(options), {x.node})};
}

}  // namespace convoke::nn
