#pragma once
#include <string>

#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

/// Compiles y = f(x, p) with a learnt p for each channel, of the same shape as x, from two kernels
/// (kernels/per_channel.hpp): forward(blocks, p, x, y) and backward(blocks, p, x, dy, dx, dp).
template <class Forward, class Backward>
void compile_per_channel(PlanBuilder& plan, const Node& node, const std::string& parameter,
                         const Forward& forward, const Backward& backward) {
  const std::size_t from = node.inputs[0];
  ChannelBlocks blocks;
  const Tensor x = plan.blocked_by_channel(from, node, blocks);
  const Tensor y = plan.allocate(x.desc);
  plan.prefer(node, parameter, Desc({blocks.channels}, kFloat, Format::x));
  const Ref p = plan.parameter(node, parameter).ref;
  with_stored_type(x.desc, [&](auto zero) {
    using T = decltype(zero);
    plan.add_kernel(
        node, "forward",
        [=](const Frame& frame) { forward(blocks, frame.at(p), frame.at<T>(x), frame.at<T>(y)); },
        {x.ref, y.ref}, y);
  });
  plan.set_value(node.index, y);
  if (!plan.training()) return;
  plan.on_backward([=, &plan, &node] {
    const Tensor dy = plan.gradient_like_value(node.index, node);
    if (!dy) return;
    const Tensor dx = plan.in_place_of(dy);
    const Ref dp = plan.gradient_of(node, parameter).ref;
    with_stored_type(dy.desc, [&](auto zero) {
      using T = decltype(zero);
      plan.add_kernel(node, "backward",
                      [=](const Frame& frame) {
                        backward(blocks, frame.at(p), frame.at<T>(x), frame.at<T>(dy), frame.at<T>(dx),
                                 frame.at(dp));
                      },
                      {x.ref, dy.ref, dx.ref}, dx, 0, {plan.slot(node, parameter)});
    });
    plan.add_gradient(from, dx, node);
  });
}

}  // namespace convoke::nn
