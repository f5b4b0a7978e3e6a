#include "convoke/nn/layers/softmax.hpp"

#include "nn/kernels/softmax.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

void Softmax::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  const Tensor given = plan.value_as(from, kFloat, node);
  // Rows whose numbers sum to 1 are neighbors in memory: (N, K), (N, L, F) or (N, H, W, C).
  const Tensor x = node.shape.rank() == 1
                       ? plan.flat(given, node)
                       : plan.reordered(given, Desc(dims_of(given.desc), kFloat, Format::nhwc), node);
  const Tensor y = plan.allocate(x.desc);
  const std::int64_t classes = channels_of(node.shape);
  const std::int64_t n = plan.samples() * (node.shape.elements() / classes);
  plan.add_kernel(
      node, "forward", [=](const Frame& frame) { softmax_forward(frame.at(x), frame.at(y), n, classes); },
      {x.ref, y.ref}, y);
  plan.set_value(node.index, y);
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    const Tensor dx = plan.in_place_of(dy);
    plan.add_kernel(
        node, "backward",
        [=](const Frame& frame) { softmax_backward(frame.at(y), frame.at(dy), frame.at(dx), n, classes); },
        {y.ref, dy.ref, dx.ref}, dx);
    plan.add_gradient(from, dx, node);
  });
}

}  // namespace convoke::nn
