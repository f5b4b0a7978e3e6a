#include "convoke/nn/layers/conv2d_transpose.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {
namespace {

using dnnl::prop_kind;
using TransposeForward = dnnl::deconvolution_forward;
using TransposeBackwardData = dnnl::deconvolution_backward_data;
using TransposeBackwardWeights = dnnl::deconvolution_backward_weights;

constexpr auto kDirect = dnnl::algorithm::deconvolution_direct;

/// One axis. `after` may be negative: rows and columns that no input reaches, fewer than the stride.
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
  if (o.groups < 1 || inputs[0][0] % o.groups != 0 || o.filters % o.groups != 0) {
    throw Error(fmt::format("{} groups must divide both its {} input channels and its {} filters", o.groups,
                            inputs[0][0], o.filters),
                "choose groups that divide both");
  }
  const Window2d w = window(inputs[0]);
  const Shape output{o.filters, w.height.output, w.width.output};
  if (w.height.output < 1 || w.width.output < 1) {
    throw Error(
        fmt::format("its padding leaves {} of its input {}", output.with_batch(), inputs[0].with_batch()),
        "use less padding or padding = \"same\"");
  }
  if (w.height.after <= -o.stride.height || w.width.after <= -o.stride.width) {
    throw Error(fmt::format("its output_padding makes {} of its input {}, a stride or more beyond what the "
                            "input reaches",
                            output.with_batch(), inputs[0].with_batch()),
                "keep output_padding below the stride");
  }
  return output;
}

std::vector<ParameterSpec> Conv2dTranspose::parameters(std::span<const ValueSpec> inputs) const {
  const Conv2dTransposeOptions& o = options_;
  const std::int64_t in = inputs[0][0] / o.groups;
  const std::int64_t area = o.kernel.height * o.kernel.width;
  std::vector<ParameterSpec> specs{{.name = "weight",
                                    .shape = {o.filters, in, o.kernel.height, o.kernel.width},
                                    .initializer = Initializer::kGlorotUniform,
                                    .fan_in = in * area,
                                    .fan_out = o.filters * area}};
  if (o.bias) specs.push_back({.name = "bias", .shape = {o.filters}});
  return specs;
}

Settings Conv2dTranspose::settings() const {
  const Conv2dTransposeOptions& o = options_;
  return {{"layer", "conv2d_transpose"},
          {"filters", o.filters},
          {"kernel", write_extent(o.kernel)},
          {"stride", write_extent(o.stride)},
          {"padding", write_padding(o.padding)},
          {"output_padding", o.output_padding ? write_extent(*o.output_padding) : Value("auto")},
          {"dilation", write_extent(o.dilation)},
          {"groups", o.groups},
          {"bias", o.bias}};
}

LayerPtr Conv2dTranspose::make(SettingsReader& read) {
  Conv2dTransposeOptions o;
  read.require_value("filters");
  read.require_value("kernel");
  o.filters = read_count(read, "filters", o.filters);
  o.kernel = read_extent(read, "kernel", o.kernel);
  o.stride = read_extent(read, "stride", o.stride);
  o.padding = read_padding(read, "padding", o.padding);
  o.output_padding = read_extent_or_auto(read, "output_padding");
  o.dilation = read_extent(read, "dilation", o.dilation);
  o.groups = read_count(read, "groups", o.groups);
  o.bias = read.get("bias", o.bias);
  return std::make_shared<Conv2dTranspose>(o);
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
  const Desc any_weight(weight_dims, type, Format::any);
  const Desc any_weight_gradient(weight_dims, kFloat, Format::any);
  const Desc laid_down = plan.laid_down(node, "weight");
  const Desc bias_desc = o.bias ? Desc({o.filters}, kFloat, Format::x) : Desc();
  const Desc any_source(plan.batched(in), type, Format::any);
  const Desc any_dst(plan.batched(node.shape), type, Format::any);

  const auto forward_with = [&](const Desc& weight) {
    return forward_desc<TransposeForward>(attributes(), prop_kind::forward_training, kDirect, any_source,
                                          weight, bias_desc, any_dst, stride, dilation, before, after);
  };
  const auto forward = [&] {
    try {
      return forward_with(type == kFloat && laid_down.get_size() > 0 ? laid_down : any_weight);
    } catch (const dnnl::error&) {
      return forward_with(any_weight);  // by a reorder of the weights
    }
  }();
  const Tensor x = plan.reordered(plan.value(from), forward.src_desc(), node);
  const Tensor y = plan.allocate(forward.dst_desc());

  const auto hint_for = [=](const Desc& weight) {
    return forward_desc<TransposeForward>(attributes(), prop_kind::forward_training, kDirect, x.desc, weight,
                                          bias_desc, y.desc, stride, dilation, before, after);
  };
  const auto weights_for = [=](const Desc& weight, const Desc& diff_weight) {
    return backward_desc<TransposeBackwardWeights>(attributes(), hint_for(weight), kDirect, x.desc,
                                                   diff_weight, bias_desc, y.desc, stride, dilation, before,
                                                   after);
  };
  // fp32: as forward wants the weights. bf16: as their gradient comes, since forward reads a copy.
  plan.prefer(node, "weight",
              type == kFloat ? forward.weights_desc()
                             : weights_for(forward.weights_desc(), any_weight_gradient).diff_weights_desc());
  if (o.bias) plan.prefer(node, "bias", bias_desc);
  {
    std::vector<std::pair<int, Tensor>> arguments{
        {DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, plan.working(node, "weight", forward.weights_desc())}};
    if (o.bias) arguments.emplace_back(DNNL_ARG_BIAS, plan.parameter(node, "bias"));
    arguments.emplace_back(DNNL_ARG_DST, y);
    plan.add_primitive(node, "forward", TransposeForward(forward), forward.impl_info_str(),
                       std::move(arguments), forward.scratchpad_desc(), flops);
  }
  plan.set_value(node.index, y);
  if (!plan.training()) return;

  const bool bias = o.bias;
  const Desc hint_weight = type == kFloat ? plan.parameter(node, "weight").desc : forward.weights_desc();
  plan.on_backward([=, &plan, &node] {
    const Tensor dy = plan.gradient_like_value(node.index, node);
    if (!dy) return;

    // d loss / d weight, d bias.
    const Tensor diff_weight = plan.gradient_of(node, "weight");
    const auto weights = [&] {
      try {
        auto as_laid_down = weights_for(hint_weight, diff_weight.desc);
        // In forward's layout there may be nothing but oneDNN's reference loop.
        if (!std::string(as_laid_down.impl_info_str()).starts_with("ref")) return as_laid_down;
      } catch (const dnnl::error&) {
        // Falls to a reorder of the gradient.
      }
      return weights_for(hint_weight, any_weight_gradient);
    }();
    const bool direct_write = weights.diff_weights_desc() == diff_weight.desc;
    const Tensor written = direct_write ? diff_weight : plan.allocate(weights.diff_weights_desc());
    std::vector<std::pair<int, Tensor>> arguments{{DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_DST, dy}};
    std::vector<std::size_t> completes;
    if (bias) {
      arguments.emplace_back(DNNL_ARG_DIFF_BIAS, plan.gradient_of(node, "bias"));
      completes.push_back(plan.slot(node, "bias"));
    }
    if (direct_write) completes.push_back(plan.slot(node, "weight"));
    arguments.emplace_back(DNNL_ARG_DIFF_WEIGHTS, written);
    plan.add_primitive(node, "backward weights", TransposeBackwardWeights(weights), weights.impl_info_str(),
                       std::move(arguments), weights.scratchpad_desc(), flops, completes);
    if (!direct_write) plan.write_gradient(node, "weight", written);

    // d loss / d x.
    if (!plan.needs_gradient(from)) return;
    const auto data =
        backward_desc<TransposeBackwardData>(attributes(), hint_for(hint_weight), kDirect, x.desc, any_weight,
                                             dy.desc, stride, dilation, before, after);
    const Tensor dx = plan.allocate(data.diff_src_desc());
    plan.add_primitive(node, "backward data", TransposeBackwardData(data), data.impl_info_str(),
                       {{DNNL_ARG_DIFF_DST, dy},
                        {DNNL_ARG_WEIGHTS, plan.working(node, "weight", data.weights_desc())},
                        {DNNL_ARG_DIFF_SRC, dx}},
                       data.scratchpad_desc(), flops);
    plan.add_gradient(from, dx, node);
  });
}

Symbol conv2d_transpose(Symbol x, Conv2dTransposeOptions options) {
  return {x.graph, x.graph->add(std::make_shared<Conv2dTranspose>(options), {x.node})};
}

}  // namespace convoke::nn
