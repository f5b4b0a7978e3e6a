#include "convoke/nn/layers/structure.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "nn/kernels/elementwise.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

void Flatten::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  const Shape& in = plan.graph().node(from).shape;
  if (in.rank() != 2) return plan.set_alias(node.index, from);
  // A sequence: its row-major memory, read as a vector.
  const Type type = type_of(plan.value(from).desc);
  Tensor y = plan.reordered(plan.value(from), plan.plain_desc(in, type), node);
  y.desc = plan.plain_desc(node.shape, type);
  plan.set_value(node.index, y);
  plan.on_backward([=, &plan, &node] {
    if (!plan.needs_gradient(from)) return;
    Tensor dx = plan.gradient_like_value(node.index, node);
    if (!dx) return;
    dx.desc = plan.plain_desc(plan.graph().node(from).shape, type_of(dx.desc));
    plan.add_gradient(from, dx, node);
  });
}

void Identity::compile(PlanBuilder& plan, const Node& node) const {
  plan.set_alias(node.index, node.inputs[0]);
}

Shape Add::output_shape(std::span<const ValueSpec> inputs) const {
  for (const ValueSpec& shape : inputs) {
    if (shape == inputs[0]) continue;
    throw Error(fmt::format("its inputs have different shapes, {} and {}", inputs[0].with_batch(),
                            shape.with_batch()),
                "bring both to one shape, e.g. by a 1 x 1 convolution on the shorter path");
  }
  return inputs[0];
}

void Add::compile(PlanBuilder& plan, const Node& node) const {
  const bool relu = plan.fusion(node).relu;
  const std::vector<Tensor> inputs = plan.values_alike(node);
  const Tensor y = plan.allocate(inputs[0].desc);
  const std::size_t count = elements_of(y.desc);
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const Tensor a = i == 1 ? inputs[0] : y;
    const Tensor b = inputs[i];
    const bool last = i + 1 == node.inputs.size();
    with_stored_type(y.desc, [&](auto zero) {
      using T = decltype(zero);
      plan.add_kernel(
          node, last && relu ? "forward, relu" : "forward",
          [=](const Frame& frame) {
            add(frame.at<T>(a), frame.at<T>(b), frame.at<T>(y), count, last && relu);
          },
          {a.ref, b.ref, y.ref}, y);
    });
  }
  const std::size_t output = plan.fusion(node).output;
  plan.set_value(output, y);
  if (!plan.training()) return;
  plan.on_backward([=, &plan, &node] {
    Tensor dy = plan.gradient_like_value(output, node);
    if (!dy) return;
    if (relu) dy = relu_gradient(plan, node, y, dy);
    dy.exclusive = false;  // every input gets the same memory
    for (const std::size_t from : node.inputs) {
      if (plan.needs_gradient(from)) plan.add_gradient(from, dy, node);
    }
  });
}

Symbol flatten(Symbol x) { return {x.graph, x.graph->add(std::make_shared<Flatten>(), {x.node})}; }
Symbol identity(Symbol x) { return {x.graph, x.graph->add(std::make_shared<Identity>(), {x.node})}; }
Symbol add(Symbol a, Symbol b) { return {a.graph, a.graph->add(std::make_shared<Add>(), {a.node, b.node})}; }

}  // namespace convoke::nn
