#pragma once
#include <cstdint>
#include <string>

#include "nn/layers/weighted_primitive.hpp"
#include "nn/plan/moving_primitive.hpp"

namespace convoke::nn {

/// y (rows, out) = x (rows, in) W^T + b with a parameter W (out, in), and its backward passes, as inner
/// products. In a dry run it records the layouts that it prefers.
class RecurrentProduct {
 public:
  using Forward = dnnl::inner_product_forward;
  using BackwardData = dnnl::inner_product_backward_data;
  using BackwardWeights = dnnl::inner_product_backward_weights;

  /// `bias`: the parameter's name, "" for none. `y`: type of the result. x and the gradient of y have the
  /// plan's stored type.
  RecurrentProduct(PlanBuilder& plan, const Node& node, std::string weight, std::string bias,
                   std::int64_t rows, std::int64_t in, std::int64_t out, Type y);

  /// Returns this product for another number of rows, with this one's layouts of the weights.
  RecurrentProduct with_rows(std::int64_t rows) const;

  const Forward::primitive_desc& forward() const { return forward_; }
  BackwardWeights::primitive_desc backward_weights(const PlanBuilder& plan, const Node& node) const;
  /// dx is stored as `type`. `weights`: the layout from which it reads them; by default oneDNN chooses.
  BackwardData::primitive_desc backward_data(const PlanBuilder& plan, const Node& node, Type type,
                                             const Desc& weights = {}) const;

  /// Return a primitive that runs with {x, weights, bias, y, scratch}, {x, dy, dbias, dweight, scratch} or
  /// {dy, weights, dx, scratch}. Without bias its address is not read.
  static MovingPrimitive moving(const Forward::primitive_desc& forward);
  static MovingPrimitive moving(const BackwardWeights::primitive_desc& backward);
  static MovingPrimitive moving(const BackwardData::primitive_desc& backward);

  bool has_bias() const { return weighted_.has_bias(); }
  const std::string& weight() const { return weight_name_; }
  const std::string& bias() const { return bias_name_; }
  const Desc& x() const { return x_; }
  const Desc& bias_desc() const { return weighted_.bias(); }
  const Desc& gradient() const { return gradient_; }
  double flops() const { return flops_; }

 private:
  Forward::primitive_desc hint(const Desc& weight) const;
  BackwardWeights::primitive_desc backward_weights(const Desc& weight, const Desc& gradient) const;

  std::string weight_name_, bias_name_;
  Type type_;
  Desc x_, y_, gradient_;
  Forward::primitive_desc forward_;
  double flops_;
  WeightedPrimitive weighted_;
};

}  // namespace convoke::nn
