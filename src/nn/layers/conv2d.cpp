#include "convoke/nn/layers/conv2d.hpp"

#include <fmt/format.h>

#include <optional>

#include "convoke/core/error.hpp"
#include "nn/layers/conv2d_max_pool.hpp"
#include "nn/plan/convolution_choice.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;
using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;

/// What all three passes of one convolution share.
struct Geometry {
  Dims stride, dilation, before, after;
  ConvolutionShape shape;
  double flops = 0;    ///< of one pass over the plan's batch
  Type type = kFloat;  ///< of values; gradients of weights are fp32
};

/// `make(algorithm)` with Winograd where it is preferred and exists, else direct.
template <class Make>
auto choose(Pass pass, const Geometry& geometry, ConvolutionChoice choice, const Make& make) {
  if (geometry.type == kFloat && prefers_winograd(pass, geometry.shape, choice)) {
    try {
      return make(algorithm::convolution_winograd);
    } catch (const dnnl::error&) {
      // Not in this oneDNN, or not on this machine.
    }
  }
  return make(algorithm::convolution_direct);
}

}  // namespace

Shape Conv2d::output_shape(std::span<const ValueSpec> inputs) const {
  const Conv2dOptions& o = options_;
  const Window2d window = slide(inputs[0], o.kernel, o.stride, o.dilation, o.padding);
  if (o.groups < 1 || inputs[0][0] % o.groups != 0 || o.filters % o.groups != 0) {
    throw Error(fmt::format("{} groups must divide both its {} input channels and its {} filters", o.groups,
                            inputs[0][0], o.filters),
                "choose groups that divide both");
  }
  return {o.filters, window.height.output, window.width.output};
}

std::vector<ParameterSpec> Conv2d::parameters(std::span<const ValueSpec> inputs) const {
  const Conv2dOptions& o = options_;
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

Settings Conv2d::settings() const {
  const Conv2dOptions& o = options_;
  return {{"layer", "conv2d"},
          {"filters", o.filters},
          {"kernel", write_extent(o.kernel)},
          {"stride", write_extent(o.stride)},
          {"padding", write_padding(o.padding)},
          {"dilation", write_extent(o.dilation)},
          {"groups", o.groups},
          {"bias", o.bias}};
}

LayerPtr Conv2d::make(SettingsReader& read) {
  Conv2dOptions o;
  o.filters = read.require_int("filters");
  if (o.filters < 1) read.fail(fmt::format("\"filters\" must be at least 1, but is {}", o.filters));
  read.require_value("kernel");
  o.kernel = read_extent(read, "kernel", o.kernel);
  o.stride = read_extent(read, "stride", o.stride);
  o.padding = read_padding(read, "padding", o.padding);
  o.dilation = read_extent(read, "dilation", o.dilation);
  o.groups = read.get("groups", o.groups);
  o.bias = read.get("bias", o.bias);
  return std::make_shared<Conv2d>(o);
}

void Conv2d::compile(PlanBuilder& plan, const Node& node) const {
  const Conv2dOptions& o = options_;
  if (plan.fusion(node).max_pool != nullptr) return compile_conv2d_max_pool(plan, node, o);
  const std::size_t from = node.inputs[0];
  const Shape& in = plan.graph().node(from).shape;
  const Window2d window = slide(in, o.kernel, o.stride, o.dilation, o.padding);
  Geometry geometry{
      {o.stride.height, o.stride.width},
      {o.dilation.height - 1, o.dilation.width - 1},
      {window.height.before, window.width.before},
      {window.height.after, window.width.after},
      {plan.samples(), in[0], o.filters, in[1], in[2], node.shape[1], node.shape[2],
       o.kernel == Extent(3) && o.stride == Extent(1) && o.dilation == Extent(1) && o.groups == 1},
      0};
  geometry.flops = 2.0 * static_cast<double>(plan.samples() * node.shape.elements() * (in[0] / o.groups) *
                                             o.kernel.height * o.kernel.width);
  const Type type = geometry.type = plan.stored();
  const ConvolutionChoice choice = plan.options().convolution;
  const bool relu = plan.fusion(node).relu;
  // In inference too: the kernels of training take the weights as they are laid down (Winograd for inference
  // has a format of its own, to which oneDNN cannot reorder), and what is evaluated is what was trained.
  const auto kind = prop_kind::forward_training;
  const dnnl::primitive_attr attr = relu ? attributes_with(algorithm::eltwise_relu) : attributes();

  // The weights' layout: what was laid down, or in a rehearsal what the primitive prefers.
  Dims weight_dims{o.filters, in[0] / o.groups, o.kernel.height, o.kernel.width};
  if (o.groups > 1)
    weight_dims = {o.groups, o.filters / o.groups, in[0] / o.groups, o.kernel.height, o.kernel.width};
  const Desc any_weight(weight_dims, type, Format::any);
  const Desc any_weight_gradient(weight_dims, kFloat, Format::any);
  const Desc laid_down = plan.laid_down(node, "weight");
  const Desc bias_desc = o.bias ? Desc({o.filters}, kFloat, Format::x) : Desc();
  const Tensor x = plan.value(from);
  // The input of the network stays plain (oneDNN has kernels for few plain channels); else oneDNN chooses.
  const Desc source = from == 0 ? plan.plain_desc(in, type) : Desc(plan.batched(in), type, Format::any);
  const Desc dst(plan.batched(node.shape), type, Format::any);

  // Each of the makers tries the laid-down layout first, and lets oneDNN choose if no kernel takes it.
  const auto with_weights = [&](const auto& make) {
    if (type == kFloat && laid_down.get_size() > 0) {
      try {
        return make(laid_down);
      } catch (const dnnl::error&) {
        // Falls to a reorder of the weights.
      }
    }
    return make(any_weight);
  };

  const auto forward_for = [&](algorithm algorithm, const dnnl::primitive_attr& a) {
    return with_weights([&](const Desc& weight) {
      return forward_desc<Forward>(a, kind, algorithm, source, weight, bias_desc, dst, geometry.stride,
                                   geometry.dilation, geometry.before, geometry.after);
    });
  };
  const auto forward = choose(Pass::kForward, geometry, choice,
                              [&](algorithm algorithm) { return forward_for(algorithm, attr); });
  const Tensor source_tensor = plan.reordered(x, forward.src_desc(), node);
  const Tensor y = plan.allocate(forward.dst_desc());

  // The backward passes' hints are direct or Winograd as they are, whatever forward is.
  const auto hint_for = [=](algorithm algorithm, const Desc& weight) {
    return forward_desc<Forward>(attributes(), prop_kind::forward_training, algorithm, source_tensor.desc,
                                 weight, bias_desc, y.desc, geometry.stride, geometry.dilation,
                                 geometry.before, geometry.after);
  };
  const auto weights_for = [=](const Desc& weight, const Desc& diff_weight) {
    return choose(Pass::kBackwardWeights, geometry, choice, [&](algorithm algorithm) {
      return backward_desc<BackwardWeights>(
          attributes(), hint_for(algorithm, weight), algorithm, source_tensor.desc, diff_weight, bias_desc,
          y.desc, geometry.stride, geometry.dilation, geometry.before, geometry.after);
    });
  };
  // fp32: as forward wants the weights. bf16: as their gradient comes, since forward reads a copy.
  plan.prefer(node, "weight",
              type == kFloat ? forward.weights_desc()
                             : weights_for(forward.weights_desc(), any_weight_gradient).diff_weights_desc());
  if (o.bias) plan.prefer(node, "bias", bias_desc);
  const Tensor weight = plan.parameter(node, "weight");
  {
    std::vector<std::pair<int, Tensor>> arguments{
        {DNNL_ARG_SRC, source_tensor},
        {DNNL_ARG_WEIGHTS, plan.working(node, "weight", forward.weights_desc())}};
    if (o.bias) arguments.emplace_back(DNNL_ARG_BIAS, plan.parameter(node, "bias"));
    arguments.emplace_back(DNNL_ARG_DST, y);
    plan.add_primitive(node, "forward", Forward(forward), forward.impl_info_str(), std::move(arguments),
                       forward.scratchpad_desc(), geometry.flops);
  }
  const std::size_t output = plan.fusion(node).output;
  plan.set_value(output, y);
  if (!plan.training()) return;

  // Shared weights are laid down as another use prefers.
  const bool as_laid_down = type == kFloat && !plan.graph().shares(node);
  const Desc hint_weight = as_laid_down ? weight.desc : forward.weights_desc();
  plan.on_backward([=, this, &plan, &node] {
    Tensor dy = plan.gradient_like_value(output, node);
    if (!dy) return;
    if (relu) dy = relu_gradient(plan, node, y, dy);

    // d loss / d weight, d bias.
    if (plan.trains(node)) {
      const auto weights = [&] {
        try {
          return weights_for(hint_weight, weight.desc);
        } catch (const dnnl::error&) {
          return weights_for(hint_weight, any_weight_gradient);
        }
      }();
      const Tensor diff_weight = plan.gradient_of(node, "weight");
      const bool direct_write = weights.diff_weights_desc() == diff_weight.desc;
      const Tensor written = direct_write ? diff_weight : plan.allocate(weights.diff_weights_desc());
      std::vector<std::pair<int, Tensor>> arguments{{DNNL_ARG_SRC, source_tensor}, {DNNL_ARG_DIFF_DST, dy}};
      std::vector<std::size_t> completes;
      if (o.bias) {
        arguments.emplace_back(DNNL_ARG_DIFF_BIAS, plan.gradient_of(node, "bias"));
        completes.push_back(plan.slot(node, "bias"));
      }
      if (direct_write) completes.push_back(plan.slot(node, "weight"));
      arguments.emplace_back(DNNL_ARG_DIFF_WEIGHTS, written);
      plan.add_primitive(node, "backward weights", BackwardWeights(weights), weights.impl_info_str(),
                         std::move(arguments), weights.scratchpad_desc(), geometry.flops, completes);
      if (!direct_write) plan.write_gradient(node, "weight", written);
    }

    // d loss / d x.
    if (!plan.needs_gradient(from)) return;
    const auto data_for = [&](const Desc& wanted) {
      return choose(Pass::kBackwardData, geometry, choice, [&](algorithm algorithm) {
        return backward_desc<BackwardData>(attributes(), hint_for(algorithm, hint_weight), algorithm,
                                           source_tensor.desc, wanted, dy.desc, geometry.stride,
                                           geometry.dilation, geometry.before, geometry.after);
      });
    };
    // Direct kernels of the data gradient want the transposed blocks; Winograd takes the laid-down ones.
    const auto data = data_for(any_weight);
    const Tensor dx = plan.allocate(data.diff_src_desc());
    plan.add_primitive(node, "backward data", BackwardData(data), data.impl_info_str(),
                       {{DNNL_ARG_DIFF_DST, dy},
                        {DNNL_ARG_WEIGHTS, plan.working(node, "weight", data.weights_desc())},
                        {DNNL_ARG_DIFF_SRC, dx}},
                       data.scratchpad_desc(), geometry.flops);
    plan.add_gradient(from, dx, node);
  });
}

Symbol conv2d(Symbol x, Conv2dOptions options) {
  return {x.graph, x.graph->add(std::make_shared<Conv2d>(options), {x.node})};
}

}  // namespace convoke::nn
