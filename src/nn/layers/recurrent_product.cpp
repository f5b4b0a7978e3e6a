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
      weight_({out, in}, type_, Format::any),
      bias_(bias_name_.empty() ? Desc() : Desc({out}, kFloat, Format::x)),
      y_({rows, out}, y, Format::nc),
      gradient_({rows, out}, type_, Format::nc),
      flops_(2.0 * static_cast<double>(rows * in * out)) {
  const Desc laid_down = plan.laid_down(node, weight_name_);
  const bool rehearsal = laid_down.get_size() == 0;
  const auto kind = plan.training() ? prop_kind::forward_training : prop_kind::forward_inference;
  forward_ = forward_desc<Forward>(attributes(), kind, x_,
                                   type_ == kFloat && !rehearsal ? laid_down : weight_, bias_, y_);
  if (!rehearsal) return;
  // fp32: as forward wants the weights. bf16: as their gradient comes, since forward reads a copy.
  plan.prefer(node, weight_name_,
              type_ == kFloat
                  ? forward_.weights_desc()
                  : backward_weights(forward_.weights_desc(), Desc({out, in}, kFloat, Format::any))
                        .diff_weights_desc());
  if (has_bias()) plan.prefer(node, bias_name_, bias_);
}

RecurrentProduct::Forward::primitive_desc RecurrentProduct::hint(const Desc& weight) const {
  return forward_desc<Forward>(attributes(), prop_kind::forward_training, x_, weight, bias_, gradient_);
}

RecurrentProduct::BackwardWeights::primitive_desc RecurrentProduct::backward_weights(
    const Desc& weight, const Desc& gradient) const {
  return backward_desc<BackwardWeights>(attributes(), hint(weight), x_, gradient, bias_, gradient_);
}

RecurrentProduct::BackwardWeights::primitive_desc RecurrentProduct::backward_weights(const PlanBuilder& plan,
                                                                                     const Node& node) const {
  const Desc laid_down = plan.parameter(node, weight_name_).desc;
  return backward_weights(type_ == kFloat ? laid_down : forward_.weights_desc(), laid_down);
}

RecurrentProduct::BackwardData::primitive_desc RecurrentProduct::backward_data(const PlanBuilder& plan,
                                                                               const Node& node,
                                                                               Type type) const {
  const Desc laid_down = plan.parameter(node, weight_name_).desc;
  const Desc dx(dims_of(x_), type, Format::nc);
  return backward_desc<BackwardData>(
      attributes(), hint(type_ == kFloat ? laid_down : forward_.weights_desc()), dx, weight_, gradient_);
}

}  // namespace convoke::nn
