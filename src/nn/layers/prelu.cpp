#include "convoke/nn/layers/prelu.hpp"

#include "nn/kernels/activation.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

std::vector<ParameterSpec> PRelu::parameters(std::span<const ValueSpec> inputs) const {
  return {{.name = "alpha", .shape = {channels_of(inputs[0])}, .initializer = options_.initializer}};
}

Settings PRelu::settings() const {
  return {{"layer", "prelu"}, {"initializer", options_.initializer.write()}};
}

LayerPtr PRelu::make(SettingsReader& read) {
  PReluOptions o;
  o.initializer = Initializer::read(read, "initializer", o.initializer);
  return std::make_shared<PRelu>(o);
}

void PRelu::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  ChannelBlocks blocks;
  const Tensor x = plan.blocked_by_channel(from, node, blocks);
  const Tensor y = plan.allocate(x.desc);
  plan.prefer(node, "alpha", Desc({blocks.channels}, kFloat, Format::x));
  const Ref alpha = plan.parameter(node, "alpha").ref;
  with_stored_type(x.desc, [&](auto zero) {
    using T = decltype(zero);
    plan.add_kernel(
        node, "forward",
        [=](const Frame& frame) { prelu(blocks, frame.at(alpha), frame.at<T>(x), frame.at<T>(y)); },
        {x.ref, y.ref}, y);
  });
  plan.set_value(node.index, y);
  if (!plan.training()) return;
  plan.on_backward([=, &plan, &node] {
    const Tensor dy = plan.gradient_like_value(node.index, node);
    if (!dy) return;
    const Tensor dx = dy.exclusive ? dy : plan.allocate(dy.desc);
    const Ref dalpha = plan.gradient_of(node, "alpha").ref;
    with_stored_type(dy.desc, [&](auto zero) {
      using T = decltype(zero);
      plan.add_kernel(node, "backward",
                      [=](const Frame& frame) {
                        prelu_backward(blocks, frame.at(alpha), frame.at<T>(x), frame.at<T>(dy),
                                       frame.at<T>(dx), frame.at(dalpha));
                      },
                      {x.ref, dy.ref, dx.ref}, dx, 0, {plan.slot(node, "alpha")});
    });
    plan.add_gradient(from, dx, node);
  });
}

Symbol prelu(Symbol x, PReluOptions options) {
  return {x.graph, x.graph->add(std::make_shared<PRelu>(std::move(options)), {x.node})};
}

}  // namespace convoke::nn
