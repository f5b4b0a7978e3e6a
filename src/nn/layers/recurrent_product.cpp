#include "nn/layers/recurrent_product.hpp"

#include <utility>

namespace convoke::nn {

using dnnl::prop_kind;

RecurrentProduct::RecurrentProduct(PlanBuilder& plan, const Node& node, std::string weight, std::string bias,
                                   std::int64_t rows, std::int64_t in, std::int64_t out, Type y)
    : weight_name_(std::move(weight)),
      bias_name_(std::move(bias)),
      type_(plan.stored()),
      x_({rows, in}, type_, Format::nc),
      y_({rows, out}, y, Format::nc),
      gradient_({rows, out}, type_, Format::nc),
      flops_(2.0 * static_cast<double>(rows * in * out)),
      weighted_(plan, node, weight_name_, bias_name_, {out, in}, out, flops_) {
  const Desc layout = plan.arena_layout(node, weight_name_);
  const bool dry_run = layout.get_size() == 0;
  const auto kind = plan.training() ? prop_kind::forward_training : prop_kind::forward_inference;
  forward_ = forward_desc<Forward>(
      attributes(), kind, x_, type_ == kFloat && !dry_run ? layout : weighted_.any_weight(), bias_desc(), y_);
  if (!dry_run) return;
  weighted_.prefer(forward_.weights_desc(), [&](const Desc& as_read, const Desc& gradient) {
    return backward_weights(as_read, gradient);
  });
}

RecurrentProduct::Forward::primitive_desc RecurrentProduct::hint(const Desc& weight) const {
  return forward_desc<Forward>(attributes(), prop_kind::forward_training, x_, weight, bias_desc(), gradient_);
}

RecurrentProduct::BackwardWeights::primitive_desc RecurrentProduct::backward_weights(
    const Desc& weight, const Desc& gradient) const {
  return backward_desc<BackwardWeights>(attributes(), hint(weight), x_, gradient, bias_desc(), gradient_);
}

RecurrentProduct::BackwardWeights::primitive_desc RecurrentProduct::backward_weights(const PlanBuilder& plan,
                                                                                     const Node& node) const {
  const Desc layout = plan.parameter(node, weight_name_).desc;
  return backward_weights(type_ == kFloat ? layout : forward_.weights_desc(), layout);
}

RecurrentProduct::BackwardData::primitive_desc RecurrentProduct::backward_data(const PlanBuilder& plan,
                                                                               const Node& node,
                                                                               Type type) const {
  const Desc layout = plan.parameter(node, weight_name_).desc;
  const Desc dx(dims_of(x_), type, Format::nc);
  return backward_desc<BackwardData>(attributes(), hint(type_ == kFloat ? layout : forward_.weights_desc()),
                                     dx, weighted_.any_weight(), gradient_);
}

}  // namespace convoke::nn
