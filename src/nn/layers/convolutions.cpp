#include "convoke/nn/layers/convolutions.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/core/error.hpp"
#include "nn/layers/convolution.hpp"
#include "nn/layers/shared_keys.hpp"

namespace convoke::nn {

Shape Conv2d::output_shape(std::span<const ValueSpec> inputs) const {
  const Conv2dOptions& o = options_;
  const Window2d window = slide(inputs[0], o.kernel, o.stride, o.dilation, o.padding);
  require_groups(o.groups, inputs[0][0], o.filters);
  return {o.filters, window.height.output, window.width.output};
}

std::vector<ParameterSpec> Conv2d::parameters(std::span<const ValueSpec> inputs) const {
  const Conv2dOptions& o = options_;
  return weight_and_bias({o.filters, inputs[0][0] / o.groups, o.kernel.height, o.kernel.width}, o.bias,
                         o.initializers);
}

// The kernel of kernels/max_pool.hpp. With more channels or another window, oneDNN's faster arithmetic
// is worth more than the saved passes over memory.
LayerTraits Conv2d::traits() const {
  const Conv2dOptions& o = options_;
  return {.linear_weight = "weight",
          .applies_relu = true,
          .applies_post_ops = true,
          .pools_image = o.filters % 16 == 0 && o.kernel == Extent(3) && o.stride == Extent(1) &&
                         o.dilation == Extent(1) && o.groups == 1 && o.padding == Padding::valid(),
          .takes_zero_border = o.padding.kind != Padding::Kind::kSame};
}

Conv2d::Keys Conv2d::keys() {
  using O = Conv2dOptions;
  static constexpr std::array kKeys{kFilters<O>, kKernel<O>,      kStride<O>,
                                    kPadding<O>, kDilation<O>,    kGroups<O>,
                                    kBias<O>,    kInitializer<O>, kBiasInitializer<O>};
  return kKeys;
}

void Conv2d::compile(PlanBuilder& plan, const Node& node) const {
  if (plan.fusion(node).max_pool != nullptr) return compile_conv2d_max_pool(plan, node, options_);
  compile_convolution(plan, node, options_);
}

Shape Conv1d::output_shape(std::span<const ValueSpec> inputs) const {
  const Conv1dOptions& o = options_;
  const Window window = slide_sequence(inputs[0], o.kernel, o.stride, o.dilation, o.padding);
  if (o.groups < 1 || inputs[0][1] % o.groups != 0 || o.filters % o.groups != 0) {
    throw Error(fmt::format("{} groups must divide both the {} features of its input {} and its {} filters",
                            o.groups, inputs[0][1], inputs[0].with_batch(), o.filters),
                "choose groups that divide both");
  }
  return {window.output, o.filters};
}

std::vector<ParameterSpec> Conv1d::parameters(std::span<const ValueSpec> inputs) const {
  const Conv1dOptions& o = options_;
  return weight_and_bias({o.filters, inputs[0][1] / o.groups, o.kernel}, o.bias);
}

Conv1d::Keys Conv1d::keys() {
  using O = Conv1dOptions;
  static constexpr std::array kKeys{kFilters<O>,
                                    kKernel<O>,
                                    kStride<O>,
                                    sequence_padding<&O::padding, true>(
                                        {.name = "padding", .help = "zeroes before and after the sequence"}),
                                    kDilation<O>,
                                    kGroups<O>,
                                    kBias<O>};
  return kKeys;
}

void Conv1d::compile(PlanBuilder& plan, const Node& node) const {
  const Conv1dOptions& o = options_;
  compile_convolution(plan, node,
                      {.filters = o.filters,
                       .kernel = {1, o.kernel},
                       .stride = {1, o.stride},
                       .padding = o.padding,
                       .dilation = {1, o.dilation},
                       .groups = o.groups,
                       .bias = o.bias});
}

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
