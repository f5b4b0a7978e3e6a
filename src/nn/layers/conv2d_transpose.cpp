#include "convoke/nn/layers/convolutions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "nn/layers/convolution.hpp"
#include "nn/layers/shared_keys.hpp"
#include "nn/layers/weighted_primitive.hpp"

namespace convoke::nn {
namespace {

using dnnl::prop_kind;
using TransposeForward = dnnl::deconvolution_forward;
using TransposeBackwardData = dnnl::deconvolution_backward_data;
using TransposeBackwardWeights = dnnl::deconvolution_backward_weights;

constexpr auto kDirect = dnnl::algorithm::deconvolution_direct;

/// One axis. `after` may be negative: some rows and columns, fewer than the stride, get no input.
Window spread(std::int64_t input, std::int64_t span, std::int64_t stride, Padding::Kind padding,
              std::int64_t before, std::int64_t after, std::optional<std::int64_t> extra) {
  const std::int64_t reach = (input - 1) * stride + span;
  std::int64_t output = reach - before - after + extra.value_or(0);
  if (padding == Padding::Kind::kValid && !extra) output = std::max(reach, input * stride);
  if (padding == Padding::Kind::kSame) {
    output = extra ? reach - span / 2 * 2 + *extra : input * stride;
    before = std::max<std::int64_t>(0, reach - output) / 2;
  }
  return {output, before, reach - output - before};
}

}  // namespace

Window2d Conv2dTranspose::window(const Shape& input) const {
  const Conv2dTransposeOptions& o = options_;
  using Side = std::int64_t Extent::*;
  const auto axis = [&](std::int64_t in, Side side) {
    return spread(in, o.dilation.*side * (o.kernel.*side - 1) + 1, o.stride.*side, o.padding.kind,
                  o.padding.before.*side, o.padding.after.*side,
                  o.output_padding ? std::optional((*o.output_padding).*side) : std::nullopt);
  };
  return {axis(input[1], &Extent::height), axis(input[2], &Extent::width)};
}

Shape Conv2dTranspose::output_shape(std::span<const ValueSpec> inputs) const {
  const Conv2dTransposeOptions& o = options_;
  require_image(inputs[0]);
  require_groups(o.groups, inputs[0][0], o.filters);
  const Window2d w = window(inputs[0]);
  const Shape output{o.filters, w.height.output, w.width.output};
  if (w.height.output < 1 || w.width.output < 1) {
    throw Error(
        fmt::format("its padding turns its input {1} into {0}", output.with_batch(), inputs[0].with_batch()),
        "use less padding or padding = \"same\"");
  }
  if (w.height.after <= -o.stride.height || w.width.after <= -o.stride.width) {
    throw Error(
        fmt::format("its output_padding turns its input {1} into {0}, a stride or more beyond what the "
                    "input reaches",
                    output.with_batch(), inputs[0].with_batch()),
        "keep output_padding below the stride");
  }
  return output;
}

std::vector<ParameterSpec> Conv2dTranspose::parameters(std::span<const ValueSpec> inputs) const {
  const Conv2dTransposeOptions& o = options_;
  return weight_and_bias({o.filters, inputs[0][0] / o.groups, o.kernel.height, o.kernel.width}, o.bias);
}

Conv2dTranspose::Keys Conv2dTranspose::keys() {
  using O = Conv2dTransposeOptions;
  static constexpr std::array kKeys{
      kFilters<O>,
      kKernel<O>,
      key<&O::stride>(
          {.name = "stride", .range = kAtLeastOne, .help = "step between outputs of neighboring inputs"}),
      key<&O::padding>({.name = "padding", .help = "rows and columns to cut off from the output"}),
      key<&O::output_padding>(
          {.name = "output_padding",
           .range = kNotNegative,
           .help = "rows and columns added to the output, fewer than the stride; \"auto\": as Keras' None"}),
      kDilation<O>,
      kGroups<O>,
      kBias<O>};
  return kKeys;
}

void Conv2dTranspose::compile(PlanBuilder& plan, const Node& node) const {
  const Conv2dTransposeOptions& o = options_;
  const std::size_t from = node.inputs[0];
  const Shape& in = plan.graph().node(from).shape;
  const Window2d w = window(in);
  const Dims stride{o.stride.height, o.stride.width};
  const Dims dilation{o.dilation.height - 1, o.dilation.width - 1};
  const Dims before{w.height.before, w.width.before}, after{w.height.after, w.width.after};
  const double flops = 2.0 * static_cast<double>(plan.samples() * in.elements() * (o.filters / o.groups) *
                                                 o.kernel.height * o.kernel.width);
  const Type type = plan.stored();

  Dims weight_dims{o.filters, in[0] / o.groups, o.kernel.height, o.kernel.width};
  if (o.groups > 1)
    weight_dims = {o.groups, o.filters / o.groups, in[0] / o.groups, o.kernel.height, o.kernel.width};
  const WeightedPrimitive weighted(plan, node, "weight", o.bias ? "bias" : "", weight_dims, o.filters, flops);
  const Desc any_source(plan.batched(in), type, Format::any);
  const Desc any_dst(plan.batched(node.shape), type, Format::any);
  const auto forward = weighted.with_weights([&](const Desc& weight) {
    return forward_desc<TransposeForward>(attributes(), prop_kind::forward_training, kDirect, any_source,
                                          weight, weighted.bias(), any_dst, stride, dilation, before, after);
  });
  const Tensor x = plan.reordered(plan.value(from), forward.src_desc(), node);
  const Tensor y = plan.allocate(forward.dst_desc());

  const auto hint_for = [=](const Desc& weight) {
    return forward_desc<TransposeForward>(attributes(), prop_kind::forward_training, kDirect, x.desc, weight,
                                          weighted.bias(), y.desc, stride, dilation, before, after);
  };
  const auto weights_for = [=](const Desc& weight, const Desc& gradient) {
    return backward_desc<TransposeBackwardWeights>(attributes(), hint_for(weight), kDirect, x.desc, gradient,
                                                   weighted.bias(), y.desc, stride, dilation, before, after);
  };
  weighted.prefer(forward.weights_desc(), weights_for);
  weighted.add_forward<TransposeForward>(forward, x, y);
  plan.set_value(node.index, y);
  if (!plan.training()) return;

  const Desc hint_weight = type == kFloat ? weighted.parameter().desc : forward.weights_desc();
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    if (plan.trains(node)) {
      const auto make = [&](const Desc& gradient) { return weights_for(hint_weight, gradient); };
      auto weights = weighted.with_gradient(make);
      // oneDNN may have only its reference loop for forward's layout.
      if (is_reference(weights.impl_info_str())) weights = make(weighted.any_gradient());
      weighted.add_backward_weights<TransposeBackwardWeights>(weights, x, dy);
    }
    if (!plan.needs_gradient(from)) return;
    const auto data =
        backward_desc<TransposeBackwardData>(attributes(), hint_for(hint_weight), kDirect, x.desc,
                                             weighted.any_weight(), dy.desc, stride, dilation, before, after);
    plan.add_gradient(from, weighted.add_backward_data<TransposeBackwardData>(data, dy), node);
  });
}

}  // namespace convoke::nn
