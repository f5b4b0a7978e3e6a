#include "convoke/nn/layers/softmax.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "nn/kernels/activation.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

Shape Softmax::output_shape(std::span<const ValueSpec> inputs) const {
  if (inputs[0].rank() != 1) {
    throw Error(fmt::format("needs a vector of classes (N, K), but its input is {}", inputs[0].with_batch()),
                "put a flatten or global_average_pool layer before it");
  }
  return {inputs[0][0]};
}

void Softmax::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  const Tensor x = plan.flat(plan.value_as(from, kFloat, node), node);
  const Tensor y = plan.allocate(x.desc);
  const std::int64_t n = plan.samples();
  const std::int64_t classes = node.shape[0];
  plan.add_kernel(
      node, "forward", [=](const Frame& frame) { softmax_forward(frame.at(x), frame.at(y), n, classes); },
      {x.ref, y.ref}, y);
  plan.set_value(node.index, y);
  if (!plan.training()) return;
  plan.on_backward([=, &plan, &node] {
    if (!plan.needs_gradient(from)) return;
    const Tensor dy = plan.gradient_like_value(node.index, node);
    if (!dy) return;
    const Tensor dx = plan.in_place_of(dy);
    plan.add_kernel(
        node, "backward",
        [=](const Frame& frame) { softmax_backward(frame.at(y), frame.at(dy), frame.at(dx), n, classes); },
        {y.ref, dy.ref, dx.ref}, dx);
    plan.add_gradient(from, dx, node);
  });
}

Symbol softmax(Symbol x) { return {x.graph, x.graph->add(std::make_shared<Softmax>(), {x.node})}; }

}  // namespace convoke::nn
