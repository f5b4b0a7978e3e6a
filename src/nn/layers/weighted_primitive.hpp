#pragma once
#include <string>
#include <utility>
#include <vector>

#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

/// True for oneDNN's plain loops, its last resort.
inline bool is_reference(const std::string& implementation) { return implementation.starts_with("ref"); }

/// The steps of a layer that is a oneDNN primitive with weights and perhaps a bias: y = f(x, weight) + bias,
/// forward, d loss / d weight and bias, d loss / d x. It finds layouts for the parameters and binds memory;
/// the layer makes the primitive descriptors (`pd`), which differ.
class WeightedPrimitive {
 public:
  /// `weight`, `bias`: the parameters' names; an empty `bias`: none. `weight_dims`: as oneDNN counts them.
  /// `flops`: of one pass.
  WeightedPrimitive(PlanBuilder& plan, const Node& node, std::string weight, std::string bias,
                    Dims weight_dims, std::int64_t outputs, double flops);

  /// The weights as values are stored, and their gradient, which is fp32, in whatever layout.
  Desc any_weight() const { return {weight_dims_, plan_->stored(), Format::any}; }
  Desc any_gradient() const { return {weight_dims_, kFloat, Format::any}; }
  bool has_bias() const { return !bias_.empty(); }
  /// Empty without a bias.
  const Desc& bias() const { return bias_desc_; }

  /// make(weights) with the layout that is laid down for them, if there is one that oneDNN takes; otherwise
  /// it chooses, and a reorder of the weights is added.
  template <class Make>
  auto with_weights(const Make& make) const {
    const Desc laid_down = plan_->laid_down(*node_, weight_);
    if (plan_->stored() == kFloat && laid_down.get_size() > 0 && dims_of(laid_down) == weight_dims_) {
      try {
        return make(laid_down);
      } catch (const dnnl::error&) {  // no kernel for this layout
      }
    }
    return make(any_weight());
  }

  /// make(gradient of the weights), likewise.
  template <class Make>
  auto with_gradient(const Make& make) const {
    const Desc laid_down = parameter().desc;
    if (dims_of(laid_down) == weight_dims_) {
      try {
        return make(laid_down);
      } catch (const dnnl::error&) {
      }
    }
    return make(any_gradient());
  }

  /// Records the preferred layout of the weights, and with it that of the bias.
  void prefer(const Desc& weight) const {
    plan_->prefer(*node_, weight_, weight);
    if (has_bias()) plan_->prefer(*node_, bias_, bias_desc_);
  }
  /// The same for what forward reads. fp32: that. bf16: as the gradient comes, gradient_pass(forward,
  /// any_gradient()), since forward reads a copy.
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
