#include "convoke/nn/layers/dense.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {
namespace {

using dnnl::prop_kind;
using DenseForward = dnnl::inner_product_forward;
using DenseBackwardData = dnnl::inner_product_backward_data;
using DenseBackwardWeights = dnnl::inner_product_backward_weights;

}  // namespace

Shape Dense::output_shape(std::span<const ValueSpec> inputs) const {
  if (inputs[0].rank() != 1) {
    throw Error(fmt::format("needs a vector (N, F), but its input is {}", inputs[0].with_batch()),
                "put a flatten or global_average_pool layer before it");
  }
  return {options_.units};
}

std::vector<ParameterSpec> Dense::parameters(std::span<const ValueSpec> inputs) const {
  const std::int64_t in = inputs[0][0];
  std::vector<ParameterSpec> specs{{.name = "weight",
                                    .shape = {options_.units, in},
                                    .initializer = options_.initializers.weight,
                                    .fan_in = in,
                                    .fan_out = options_.units}};
  if (options_.bias) {
    specs.push_back({.name = "bias",
                     .shape = {options_.units},
                     .initializer = options_.initializers.bias,
                     .fan_in = in,
                     .fan_out = options_.units});
  }
  return specs;
}

Settings Dense::settings() const {
  Settings settings{{"layer", "dense"}, {"units", options_.units}, {"bias", options_.bias}};
  options_.initializers.write(settings);
  return settings;
}

LayerPtr Dense::make(SettingsReader& read) {
  DenseOptions o;
  o.units = read.require_int("units");
  if (o.units < 1) read.fail(fmt::format("\"units\" must be at least 1, but is {}", o.units));
  o.bias = read.get("bias", o.bias);
  o.initializers = Initializers::read(read);
  return std::make_shared<Dense>(o);
}

void Dense::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  const Type type = plan.stored();
  const Tensor x = plan.value_as(from, type, node);
  const bool relu = plan.fusion(node).relu;
  const bool bias = options_.bias;
  const auto kind = plan.training() ? prop_kind::forward_training : prop_kind::forward_inference;
  const double flops =
      2.0 * static_cast<double>(plan.samples() * options_.units * plan.graph().node(from).shape.elements());

  // A flattened image keeps its four dims and its layout: the weights follow it.
  Dims weight_dims = dims_of(x.desc);
  weight_dims[0] = options_.units;
  const Desc any_weight(weight_dims, type, Format::any);
  const Desc laid_down = plan.laid_down(node, "weight");
  const Desc bias_desc = bias ? Desc({options_.units}, kFloat, Format::x) : Desc();
  const Desc dst({plan.samples(), options_.units}, plan.feeds_loss(node) ? kFloat : type, Format::nc);
  const auto attr = relu ? attributes_with(dnnl::algorithm::eltwise_relu) : attributes();

  const auto forward_with = [&](const Desc& weight) {
    return forward_desc<DenseForward>(attr, kind, x.desc, weight, bias_desc, dst);
  };
  // Parameters that are shared may be laid down for another use, on an image or a vector: then oneDNN
  // chooses.
  const bool fits = type == kFloat && laid_down.get_size() > 0 && dims_of(laid_down) == weight_dims;
  const auto forward = [&] {
    try {
      return forward_with(fits ? laid_down : any_weight);
    } catch (const dnnl::error&) {
      return forward_with(any_weight);
    }
  }();
  const Desc working_dst(dims_of(dst), type, Format::nc);  // of the gradient that backward reads
  const auto hint_for = [=](const Desc& weight) {
    return forward_desc<DenseForward>(attributes(), prop_kind::forward_training, x.desc, weight, bias_desc,
                                      working_dst);
  };
  const auto weights_for = [=](const Desc& weight, const Desc& diff_weight) {
    return backward_desc<DenseBackwardWeights>(attributes(), hint_for(weight), x.desc, diff_weight, bias_desc,
                                               working_dst);
  };
  // fp32: as forward wants the weights. bf16: as their gradient comes, since forward reads a copy.
  plan.prefer(
      node, "weight",
      type == kFloat
          ? forward.weights_desc()
          : weights_for(forward.weights_desc(), Desc(weight_dims, kFloat, Format::any)).diff_weights_desc());
  if (bias) plan.prefer(node, "bias", bias_desc);

  const Tensor weight = plan.parameter(node, "weight");
  const Tensor y = plan.allocate(dst);
  {
    std::vector<std::pair<int, Tensor>> arguments{
        {DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, plan.working(node, "weight", forward.weights_desc())}};
    if (bias) arguments.emplace_back(DNNL_ARG_BIAS, plan.parameter(node, "bias"));
    arguments.emplace_back(DNNL_ARG_DST, y);
    plan.add_primitive(node, "forward", DenseForward(forward), forward.impl_info_str(), std::move(arguments),
                       forward.scratchpad_desc(), flops);
  }
  const std::size_t output = plan.fusion(node).output;
  plan.set_value(output, y);
  if (!plan.training()) return;

  plan.on_backward([=, &plan, &node] {
    Tensor dy = plan.gradient_like_value(output, node);
    if (!dy) return;
    if (relu) dy = relu_gradient(plan, node, y, dy);
    dy = plan.reordered(dy, working_dst, node);
    const bool same_dims = dims_of(weight.desc) == dims_of(any_weight);
    const Desc hint_weight = type == kFloat && same_dims ? weight.desc : forward.weights_desc();
    if (plan.trains(node)) {
      const auto weights = [&] {
        try {
          return weights_for(hint_weight,
                             same_dims ? weight.desc : Desc(dims_of(any_weight), kFloat, Format::any));
        } catch (const dnnl::error&) {
          return weights_for(forward.weights_desc(), Desc(dims_of(any_weight), kFloat, Format::any));
        }
      }();
      const bool direct_write = weights.diff_weights_desc() == weight.desc;
      const Tensor written =
          direct_write ? plan.gradient_of(node, "weight") : plan.allocate(weights.diff_weights_desc());
      std::vector<std::pair<int, Tensor>> arguments{{DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_DST, dy}};
      std::vector<std::size_t> completes;
      if (direct_write) completes.push_back(plan.slot(node, "weight"));
      if (bias) {
        arguments.emplace_back(DNNL_ARG_DIFF_BIAS, plan.gradient_of(node, "bias"));
        completes.push_back(plan.slot(node, "bias"));
      }
      arguments.emplace_back(DNNL_ARG_DIFF_WEIGHTS, written);
      plan.add_primitive(node, "backward weights", DenseBackwardWeights(weights), weights.impl_info_str(),
                         std::move(arguments), weights.scratchpad_desc(), flops, completes);
      if (!direct_write) plan.write_gradient(node, "weight", written);
    }

    if (!plan.needs_gradient(from)) return;
    const auto data = backward_desc<DenseBackwardData>(attributes(), hint_for(forward.weights_desc()), x.desc,
                                                       any_weight, dy.desc);
    const Tensor dx = plan.allocate(data.diff_src_desc());
    plan.add_primitive(node, "backward data", DenseBackwardData(data), data.impl_info_str(),
                       {{DNNL_ARG_DIFF_DST, dy},
                        {DNNL_ARG_WEIGHTS, plan.working(node, "weight", data.weights_desc())},
                        {DNNL_ARG_DIFF_SRC, dx}},
                       data.scratchpad_desc(), flops);
    plan.add_gradient(from, dx, node);
  });
}

Symbol dense(Symbol x, DenseOptions options) {
  return {x.graph, x.graph->add(std::make_shared<Dense>(options), {x.node})};
}

}  // namespace convoke::nn
