#include "convoke/nn/layers/activation.hpp"

#include <algorithm>
#include <array>

#include "nn/kernels/activation.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/pieces.hpp"
#include "nn/kernels/softmax.hpp"
#include "nn/plan/plan_builder.hpp"
#include "nn/plan/step_threads.hpp"

namespace convoke::nn {
namespace {

using Kind = Activation::Function;

struct ActivationEntry {
  Kind function;
  std::string_view name;
  Curve curve;  ///< the curve of our kernels; oneDNN computes relu, sigmoid and tanh
  FusibleActivation fusible = FusibleActivation::kNone;
};
constexpr std::array kActivationEntries{
    ActivationEntry{Kind::kRelu, "relu", {}, FusibleActivation::kRelu},
    ActivationEntry{Kind::kRelu6, "relu6", Curve::kRelu6, FusibleActivation::kRelu6},
    ActivationEntry{Kind::kLeakyRelu, "leaky_relu", Curve::kLeakyRelu},
    ActivationEntry{Kind::kElu, "elu", Curve::kElu},
    ActivationEntry{Kind::kSelu, "selu", Curve::kSelu},
    ActivationEntry{Kind::kGelu, "gelu", Curve::kGelu},
    ActivationEntry{Kind::kSilu, "silu", Curve::kSilu, FusibleActivation::kSilu},
    ActivationEntry{Kind::kHardSwish, "hard_swish", Curve::kHardSwish, FusibleActivation::kHardSwish},
    ActivationEntry{Kind::kHardSigmoid, "hard_sigmoid", Curve::kHardSigmoid},
    ActivationEntry{Kind::kSoftplus, "softplus", Curve::kSoftplus},
    ActivationEntry{Kind::kSigmoid, "sigmoid", {}},
    ActivationEntry{Kind::kTanh, "tanh", {}},
};
const ActivationEntry& entry_of(Kind function) {
  return kActivationEntries[static_cast<std::size_t>(function)];
}

bool by_onednn(Kind function) {
  return function == Kind::kRelu || function == Kind::kSigmoid || function == Kind::kTanh;
}

/// Returns oneDNN's algorithm for forward, or for backward from the output.
dnnl::algorithm algorithm_of(Kind function, bool backward) {
  using dnnl::algorithm;
  switch (function) {
    case Kind::kRelu:
      return backward ? algorithm::eltwise_relu_use_dst_for_bwd : algorithm::eltwise_relu;
    case Kind::kSigmoid:
      return backward ? algorithm::eltwise_logistic_use_dst_for_bwd : algorithm::eltwise_logistic;
    default:
      return backward ? algorithm::eltwise_tanh_use_dst_for_bwd : algorithm::eltwise_tanh;
  }
}

}  // namespace

std::string_view Activation::type() const { return entry_of(function_).name; }

LayerTraits Activation::traits() const {
  return {.is_activation = true,
          .joins_loss = function_ == Function::kSigmoid,
          .activation = entry_of(function_).fusible};
}

Activation::Keys Activation::keys(Function function) {
  using O = ActivationOptions;
  static constexpr std::array kKeys{
      key<&O::negative_slope>({.name = "negative_slope",
                               .range = kNotNegative,
                               .help = "slope below 0; PyTorch's default is 0.01"}),
      key<&O::alpha>({.name = "alpha", .range = kNotNegative, .help = "scale of the exponential below 0"}),
      key<&O::approximate>({.name = "approximate", .help = "use the tanh form"})};
  const Keys all = kKeys;
  return function == Function::kLeakyRelu ? all.subspan(0, 1)
         : function == Function::kElu     ? all.subspan(1, 1)
         : function == Function::kGelu    ? all.subspan(2, 1)
                                          : Keys();
}

void Activation::compile(PlanBuilder& plan, const Node& node) const {
  if (by_onednn(function_)) return compile_by_onednn(plan, node);
  compile_by_kernel(plan, node);
}

void Activation::compile_by_onednn(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  const Tensor x = plan.value(from);
  const auto kind = plan.training() ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  const auto algorithm = algorithm_of(function_, plan.training());
  const auto forward = eltwise_forward_desc(algorithm, x.desc, kind);
  const Tensor y = plan.allocate(x.desc);
  plan.add_primitive(node, "forward", dnnl::eltwise_forward(forward), forward.impl_info_str(),
                     {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}}, forward.scratchpad_desc());
  plan.set_value(node.index, y);
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    const auto backward = eltwise_backward_desc(algorithm, y.desc, y.desc, forward);
    const Tensor dx = plan.in_place_of(dy);
    plan.add_primitive(node, "backward", dnnl::eltwise_backward(backward), backward.impl_info_str(),
                       {{DNNL_ARG_DST, y}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dx}},
                       backward.scratchpad_desc());
    plan.add_gradient(from, dx, node);
  });
}

void Activation::compile_by_kernel(PlanBuilder& plan, const Node& node) const {
  ChannelBlocks blocks;
  const Tensor x = plan.blocked(plan.value(node.inputs[0]), node, blocks);
  const Tensor y = plan.allocate(x.desc);
  const std::size_t count = elements_of(x.desc);
  const bool tanh_form = function_ == Function::kGelu && options_.approximate;
  const Curve curve = tanh_form ? Curve::kGeluTanh : entry_of(function_).curve;
  const auto alpha =
      static_cast<float>(function_ == Function::kElu ? options_.alpha : options_.negative_slope);
  // Padding must stay zero. f(0) is zero for all functions but these two.
  const bool lifts = curve == Curve::kHardSigmoid || curve == Curve::kSoftplus;
  const bool clear = lifts && blocks.padded_channels() != blocks.channels;
  plan.add_typed_kernel(
      x.desc, node, "forward",
      [=]<class T>(const Frame& frame) {
        share_elements(count, [&](std::int64_t i, std::size_t n) {
          kernels<ActivationKernels<T>>().activate(curve, alpha, frame.at<T>(x) + i, frame.at<T>(y) + i, n);
        });
        if (clear) clear_padding(blocks, frame.at<T>(y));
      },
      {x.ref, y.ref}, y);
  plan.set_value(node.index, y);
  const Tensor kept = slope_needs_x(curve) ? x : y;
  plan.on_backward_in_place(node, {kept.ref}, [=]<class T>(const Frame& frame, const T* dy, T* dx) {
    share_elements(count, [&](std::int64_t i, std::size_t n) {
      kernels<ActivationKernels<T>>().activate_backward(curve, alpha, frame.at<T>(kept) + i, dy + i, dx + i,
                                                        n);
    });
  });
}

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
