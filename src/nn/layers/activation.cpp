#include "convoke/nn/layers/activation.hpp"

#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {
namespace {

/// oneDNN's algorithms: forward, and backward from the output.
dnnl::algorithm algorithm_of(Activation::Function function, bool backward) {
  using dnnl::algorithm;
  switch (function) {
    case Activation::Function::kRelu:
      return backward ? algorithm::eltwise_relu_use_dst_for_bwd : algorithm::eltwise_relu;
    case Activation::Function::kSigmoid:
      return backward ? algorithm::eltwise_logistic_use_dst_for_bwd : algorithm::eltwise_logistic;
    default:
      return backward ? algorithm::eltwise_tanh_use_dst_for_bwd : algorithm::eltwise_tanh;
  }
}

Symbol apply(Symbol x, Activation::Function function) {
  return {x.graph, x.graph->add(std::make_shared<Activation>(function), {x.node})};
}

}  // namespace

std::string_view Activation::type() const {
  switch (function_) {
    case Function::kRelu:
      return "relu";
    case Function::kSigmoid:
      return "sigmoid";
    default:
      return "tanh";
  }
}

void Activation::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  const Tensor x = plan.value(from);
  const auto kind = plan.training() ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  const auto algorithm = algorithm_of(function_, plan.training());
  const auto forward = eltwise_forward_desc(algorithm, x.desc, kind);
  const Tensor y = plan.allocate(x.desc);
  plan.add_primitive(node, "forward", dnnl::eltwise_forward(forward), forward.impl_info_str(),
                     {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}}, forward.scratchpad_desc());
  plan.set_value(node.index, y);
  if (!plan.training()) return;
  plan.on_backward([=, &plan, &node] {
    if (!plan.needs_gradient(from)) return;
    const Tensor dy = plan.gradient_like_value(node.index, node);
    if (!dy) return;
    const auto backward = eltwise_backward_desc(algorithm, y.desc, y.desc, forward);
    const Tensor dx = dy.exclusive ? dy : plan.allocate(dy.desc);
    plan.add_primitive(node, "backward", dnnl::eltwise_backward(backward), backward.impl_info_str(),
                       {{DNNL_ARG_DST, y}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dx}},
                       backward.scratchpad_desc());
    plan.add_gradient(from, dx, node);
  });
}

Symbol relu(Symbol x) { return apply(x, Activation::Function::kRelu); }
Symbol sigmoid(Symbol x) { return apply(x, Activation::Function::kSigmoid); }
Symbol tanh(Symbol x) { return apply(x, Activation::Function::kTanh); }

}  // namespace convoke::nn
