#pragma once
#include <string>
#include <utility>
#include <vector>

#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

/// True for oneDNN's plain reference loops, which are its last resort.
inline bool is_reference(const std::string& implementation) { return implementation.starts_with("ref"); }

/// Returns the parameter `name` of shape (outputs, inputs) or, for windows, (outputs, inputs, kernel ...).
inline ParameterSpec weight_of(std::string name, const Shape& shape, const Initializer& initializer) {
  std::int64_t area = 1;
  for (std::size_t axis = 2; axis < shape.rank(); ++axis) area *= shape[axis];
  return {.name = std::move(name),
          .shape = shape,
          .initializer = initializer,
          .fan_in = shape[1] * area,
          .fan_out = shape[0] * area};
}

/// Returns "weight" of such a shape and, if there is a `bias`, "bias" (outputs).
inline std::vector<ParameterSpec> weight_and_bias(const Shape& shape, bool bias,
                                                  const Initializers& initializers = {}) {
  std::vector<ParameterSpec> specs{weight_of("weight", shape, initializers.weight)};
  if (!bias) return specs;
  ParameterSpec second = specs[0];
  second.name = "bias";
  second.shape = {shape[0]};
  second.initializer = initializers.bias;
  specs.push_back(std::move(second));
  return specs;
}

/// The steps of a layer that is a oneDNN primitive with weights and an optional bias, y = f(x, weight) +
/// bias: forward, d loss / d weight and bias, d loss / d x. This class finds layouts for the parameters and
/// binds memory; the layer makes the primitive descriptors (`pd`), which differ.
class WeightedPrimitive {
 public:
  /// `weight`, `bias`: the parameters' names; an empty `bias` means none. `weight_dims`: in oneDNN's order.
  /// `flops`: of one pass.
  WeightedPrimitive(PlanBuilder& plan, const Node& node, std::string weight, std::string bias,
                    Dims weight_dims, std::int64_t outputs, double flops);

  /// The weights in the stored type, and their gradient in fp32, both in any layout.
  Desc any_weight() const { return {weight_dims_, plan_->stored(), Format::any}; }
  Desc any_gradient() const { return {weight_dims_, kFloat, Format::any}; }
  bool has_bias() const { return !bias_.empty(); }
  /// Returns an empty descriptor without a bias.
  const Desc& bias() const { return bias_desc_; }

  /// Returns make(weights) with the layout of the weights in the arena, if oneDNN supports it. Otherwise
  /// oneDNN chooses, and a reorder of the weights is added.
  template <class Make>
  auto with_weights(const Make& make) const {
    return made_for(plan_->stored() == kFloat ? plan_->arena_layout(*node_, weight_) : Desc(), any_weight(),
                    make);
  }

  /// Returns make(gradient of the weights) in the same way.
  template <class Make>
  auto with_gradient(const Make& make) const {
    return made_for(parameter().desc, any_gradient(), make);
  }

  /// Records the preferred layout of the weights, and of the bias.
  void prefer(const Desc& weight) const {
    plan_->prefer(*node_, weight_, weight);
    if (has_bias()) plan_->prefer(*node_, bias_, bias_desc_);
  }
  /// Records the layout that forward reads. In bf16 forward reads a copy, so the layout of the gradient,
  /// gradient_pass(forward, any_gradient()), is recorded instead.
  template <class GradientPass>
  void prefer(const Desc& forward, const GradientPass& gradient_pass) const {
    const bool copied = plan_->stored() != kFloat;
    prefer(copied ? gradient_pass(forward, any_gradient()).diff_weights_desc() : forward);
  }

  Tensor parameter() const { return plan_->parameter(*node_, weight_); }

  template <class Primitive>
  void add_forward(const typename Primitive::primitive_desc& pd, const Tensor& x, const Tensor& y,
                   const std::string& what = "forward") const {
    std::vector<std::pair<int, Tensor>> arguments{
        {DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, plan_->working(*node_, weight_, pd.weights_desc())}};
    if (has_bias()) arguments.emplace_back(DNNL_ARG_BIAS, plan_->parameter(*node_, bias_));
    arguments.emplace_back(DNNL_ARG_DST, y);
    plan_->add_primitive(*node_, what, Primitive(pd), pd.impl_info_str(), std::move(arguments),
                         pd.scratchpad_desc(), flops_);
  }

  template <class Primitive>
  void add_backward_weights(const typename Primitive::primitive_desc& pd, const Tensor& x,
                            const Tensor& dy) const {
    const bool in_place = pd.diff_weights_desc() == parameter().desc;
    const Tensor written =
        in_place ? plan_->gradient_of(*node_, weight_) : plan_->allocate(pd.diff_weights_desc());
    std::vector<std::pair<int, Tensor>> arguments{{DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_DST, dy}};
    std::vector<std::size_t> completes;
    if (in_place) completes.push_back(plan_->slot(*node_, weight_));
    if (has_bias()) {
      arguments.emplace_back(DNNL_ARG_DIFF_BIAS, plan_->gradient_of(*node_, bias_));
      completes.push_back(plan_->slot(*node_, bias_));
    }
    arguments.emplace_back(DNNL_ARG_DIFF_WEIGHTS, written);
    plan_->add_primitive(*node_, "backward weights", Primitive(pd), pd.impl_info_str(), std::move(arguments),
                         pd.scratchpad_desc(), flops_, std::move(completes));
    if (!in_place) plan_->write_gradient(*node_, weight_, written);
  }

  /// Returns d loss / d x.
  template <class Primitive>
  Tensor add_backward_data(const typename Primitive::primitive_desc& pd, const Tensor& dy) const {
    const Tensor dx = plan_->allocate(pd.diff_src_desc());
    plan_->add_primitive(*node_, "backward data", Primitive(pd), pd.impl_info_str(),
                         {{DNNL_ARG_DIFF_DST, dy},
                          {DNNL_ARG_WEIGHTS, plan_->working(*node_, weight_, pd.weights_desc())},
                          {DNNL_ARG_DIFF_SRC, dx}},
                         pd.scratchpad_desc(), flops_);
    return dx;
  }

 private:
  template <class Make>
  auto made_for(const Desc& layout, const Desc& any, const Make& make) const {
    if (dims_of(layout) == weight_dims_) {
      try {
        return make(layout);
      } catch (const dnnl::error&) {  // no kernel for this layout
      }
    }
    return make(any);
  }

  PlanBuilder* plan_;
  const Node* node_;
  std::string weight_, bias_;
  Dims weight_dims_;
  Desc bias_desc_;
  double flops_;
};

inline WeightedPrimitive::WeightedPrimitive(PlanBuilder& plan, const Node& node, std::string weight,
                                            std::string bias, Dims weight_dims, std::int64_t outputs,
                                            double flops)
    : plan_(&plan),
      node_(&node),
      weight_(std::move(weight)),
      bias_(std::move(bias)),
      weight_dims_(std::move(weight_dims)),
      bias_desc_(bias_.empty() ? Desc() : Desc({outputs}, kFloat, Format::x)),
      flops_(flops) {}

}  // namespace convoke::nn
