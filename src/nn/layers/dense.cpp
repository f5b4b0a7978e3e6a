#include "convoke/nn/layers/convolutions.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "convoke/core/error.hpp"
#include "nn/layers/shared_keys.hpp"
#include "nn/layers/weighted_primitive.hpp"

namespace convoke::nn {
namespace {

using dnnl::prop_kind;
using DenseForward = dnnl::inner_product_forward;
using DenseBackwardData = dnnl::inner_product_backward_data;
using DenseBackwardWeights = dnnl::inner_product_backward_weights;

// Returns the layout of a flattened image as vectors, if it is plain; otherwise the layout itself. Given the
// image, oneDNN 3 would choose weights with padded channels: for one channel, eight times the memory and the
// work.
Desc as_vectors(const Desc& image) {
  const Dims dims = dims_of(image);
  if (dims.size() != 4 || image != Desc(dims, type_of(image), Format::nchw)) return image;
  return image.reshape({dims[0], dims[1] * dims[2] * dims[3]});
}

// Measured on Zen 4, one core: with its own layout, forward is slower for 4.2 million weights and 8 rows
// (1.69 ms instead of 1.45, and 5.7 ms a step to transpose them: leaf-cnn at batch 16 is 9 % slower), and
// faster for 0.8 million and 24 rows (the 905k CNN by 2 %).
constexpr std::int64_t kLargeWeights = std::int64_t{2} << 20;

/// True if oneDNN computes make(weights) with the kernel `name`.
template <class Make>
bool has_kernel(std::string_view name, const Make& make, const Desc& weights) {
  try {
    return make(weights).impl_info_str() == name;
  } catch (const dnnl::error&) {  // no kernel at all for this layout
    return false;
  }
}

}  // namespace

Shape Dense::output_shape(std::span<const ValueSpec> inputs) const {
  if (inputs[0].rank() != 1) {
    throw Error(fmt::format("needs a vector (N, F), but its input is {}", inputs[0].with_batch()),
                "put a flatten or global_average_pool layer before it");
  }
  return {options_.units};
}

std::vector<ParameterSpec> Dense::parameters(std::span<const ValueSpec> inputs) const {
  return weight_and_bias({options_.units, inputs[0][0]}, options_.bias, options_.initializers);
}

Dense::Keys Dense::keys() {
  using O = DenseOptions;
  static constexpr std::array kKeys{
      key<&O::units>({.name = "units", .range = kAtLeastOne, .required = true, .help = "outputs"}), kBias<O>,
      kInitializer<O>, kBiasInitializer<O>};
  return kKeys;
}

void Dense::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  const Type type = plan.stored();
  Tensor x = plan.value_as(from, type, node);
  const Desc image = x.desc;
  x.desc = as_vectors(image);
  const bool relu = plan.fusion(node).relu;
  const auto kind = plan.training() ? prop_kind::forward_training : prop_kind::forward_inference;
  const double flops =
      2.0 * static_cast<double>(plan.samples() * options_.units * plan.graph().node(from).shape.elements());
  // A flattened image in another layout keeps its four dims, and the weights have matching dims. A node that
  // shares the parameters may have chosen their layout, for an image or a vector.
  Dims weight_dims = dims_of(x.desc);
  weight_dims[0] = options_.units;
  const WeightedPrimitive weighted(plan, node, "weight", options_.bias ? "bias" : "", weight_dims,
                                   options_.units, flops);
  const Desc dst({plan.samples(), options_.units}, plan.feeds_loss(node) ? kFloat : type, Format::nc);
  const auto attr = relu ? attributes_with({.activation = dnnl::algorithm::eltwise_relu}) : attributes();
  const auto forward_for = [&](const Desc& weight) {
    return forward_desc<DenseForward>(attr, kind, x.desc, weight, weighted.bias(), dst);
  };
  auto forward = weighted.with_weights(forward_for);
  const Desc working_dst(dims_of(dst), type, Format::nc);  // of the gradient that backward reads
  const auto hint_for = [=](const Desc& weight) {
    return forward_desc<DenseForward>(attributes(), prop_kind::forward_training, x.desc, weight,
                                      weighted.bias(), working_dst);
  };
  const auto weights_for = [=](const Desc& weight, const Desc& gradient) {
    return backward_desc<DenseBackwardWeights>(attributes(), hint_for(weight), x.desc, gradient,
                                               weighted.bias(), working_dst);
  };
  const auto data_for = [=](const Desc& hint, const Desc& weight) {
    return backward_desc<DenseBackwardData>(attributes(), hint_for(hint), x.desc, weight, working_dst);
  };
  // Weights that do not stay in the cache take longer to transpose after each update than to read. Forward
  // then reads them in the layout of the data gradient, if it has the same kernel for it.
  const std::int64_t count = options_.units * plan.graph().node(from).shape.elements();
  if (plan.training() && type == kFloat && count >= kLargeWeights &&
      plan.arena_layout(node, "weight").get_size() == 0) {
    const Desc backward = data_for(weighted.any_weight(), weighted.any_weight()).weights_desc();
    if (has_kernel(forward.impl_info_str(), forward_for, backward)) forward = forward_for(backward);
  }
  weighted.prefer(forward.weights_desc(), weights_for);
  const Tensor y = plan.allocate(dst);
  weighted.add_forward<DenseForward>(forward, x, y);
  const std::size_t output = plan.fusion(node).output;
  plan.set_value(output, y);

  plan.on_gradient(output, node, [=, &plan, &node](Tensor dy) {
    if (relu) dy = relu_gradient(plan, node, y, dy);
    dy = plan.reordered(dy, working_dst, node);
    if (plan.trains(node)) {
      const auto weights = weighted.with_gradient([&](const Desc& gradient) {
        const bool in_arena_layout = type == kFloat && gradient == weighted.parameter().desc;
        return weights_for(in_arena_layout ? gradient : forward.weights_desc(), gradient);
      });
      weighted.add_backward_weights<DenseBackwardWeights>(weights, x, dy);
    }
    if (!plan.needs_gradient(from)) return;
    const auto data = data_for(forward.weights_desc(), weighted.any_weight());
    Tensor dx = weighted.add_backward_data<DenseBackwardData>(data, dy);
    dx.desc = image;
    plan.add_gradient(from, dx, node);
  });
}

}  // namespace convoke::nn
