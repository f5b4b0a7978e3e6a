#include "convoke/nn/layers/separable_conv2d.hpp"

#include <array>

#include "convoke/core/error.hpp"
#include "nn/layers/convolution.hpp"
#include "nn/layers/shared_keys.hpp"

namespace convoke::nn {
namespace {

/// Returns the depthwise convolution of `channels` channels, as a convolution with as many groups.
template <class Options>
Conv2dOptions depthwise(const Options& o, std::int64_t channels, bool bias) {
  return {.filters = channels * o.multiplier,
          .kernel = o.kernel,
          .stride = o.stride,
          .padding = o.padding,
          .dilation = o.dilation,
          .groups = channels,
          .bias = bias};
}

/// Uses the fans of Keras, which computes them from its own layout (kh, kw, C, multiplier).
template <class Options>
ParameterSpec depthwise_weight(const Options& o, std::int64_t channels, std::string name) {
  const std::int64_t area = o.kernel.height * o.kernel.width;
  return {.name = std::move(name),
          .shape = {channels * o.multiplier, 1, o.kernel.height, o.kernel.width},
          .initializer = Initializer::kGlorotUniform,
          .fan_in = channels * area,
          .fan_out = o.multiplier * area};
}

}  // namespace

Shape DepthwiseConv2d::output_shape(std::span<const ValueSpec> inputs) const {
  const DepthwiseConv2dOptions& o = options_;
  const Window2d window = slide(inputs[0], o.kernel, o.stride, o.dilation, o.padding);
  return {inputs[0][0] * o.multiplier, window.height.output, window.width.output};
}

std::vector<ParameterSpec> DepthwiseConv2d::parameters(std::span<const ValueSpec> inputs) const {
  std::vector<ParameterSpec> specs{depthwise_weight(options_, inputs[0][0], "weight")};
  if (options_.bias) specs.push_back({.name = "bias", .shape = {inputs[0][0] * options_.multiplier}});
  return specs;
}

DepthwiseConv2d::Keys DepthwiseConv2d::keys() {
  using O = DepthwiseConv2dOptions;
  static constexpr std::array kKeys{kKernel<O>,   kStride<O>,     kPadding<O>,
                                    kDilation<O>, kMultiplier<O>, kBias<O>};
  return kKeys;
}

void DepthwiseConv2d::compile(PlanBuilder& plan, const Node& node) const {
  const std::int64_t channels = node.shape[0] / options_.multiplier;
  compile_convolution(plan, node, depthwise(options_, channels, options_.bias));
}

Shape SeparableConv2d::output_shape(std::span<const ValueSpec> inputs) const {
  const SeparableConv2dOptions& o = options_;
  const Window2d window = slide(inputs[0], o.kernel, o.stride, o.dilation, o.padding);
  return {o.filters, window.height.output, window.width.output};
}

std::vector<ParameterSpec> SeparableConv2d::parameters(std::span<const ValueSpec> inputs) const {
  const std::int64_t between = inputs[0][0] * options_.multiplier;
  std::vector<ParameterSpec> specs{
      depthwise_weight(options_, inputs[0][0], "depthwise_weight"),
      weight_of("pointwise_weight", {options_.filters, between, 1, 1}, Initializer::kGlorotUniform)};
  if (options_.bias) specs.push_back({.name = "bias", .shape = {options_.filters}});
  return specs;
}

SeparableConv2d::Keys SeparableConv2d::keys() {
  using O = SeparableConv2dOptions;
  static constexpr std::array kKeys{kFilters<O>,  kKernel<O>,     kStride<O>, kPadding<O>,
                                    kDilation<O>, kMultiplier<O>, kBias<O>};
  return kKeys;
}

void SeparableConv2d::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  const Shape& in = plan.graph().node(from).shape;
  const Conv2dOptions each = depthwise(options_, in[0], false);
  const Shape between{each.filters, node.shape[1], node.shape[2]};
  const Convolution first(
      plan, node, plan.value(from),
      {.in = in, .options = each, .weight = "depthwise_weight", .bias = "", .plain_source = false});
  const Convolution second(plan, node, first.output(),
                           {.in = between,
                            .options = {.filters = options_.filters, .kernel = 1, .bias = options_.bias},
                            .weight = "pointwise_weight",
                            .bias = "bias",
                            .activation = plan.fusion(node).activation(),
                            .addend = addend_of(plan, node),
                            .plain_source = false});
  const std::size_t output = plan.fusion(node).output;
  plan.set_value(output, second.output());
  plan.on_gradient(output, node, [=, &plan, &node](const Tensor& dy) {
    const Tensor dx = second.backward(dy, true);
    const bool wanted = plan.needs_gradient(from);
    const Tensor back = first.backward(plan.reordered(dx, first.output().desc, node), wanted);
    if (wanted) plan.add_gradient(from, back, node);
  });
}

}  // namespace convoke::nn
