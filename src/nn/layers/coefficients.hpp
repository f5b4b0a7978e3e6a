#pragma once
#include <string>
#include <vector>

#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

/// Returns the parameters that the layer has: gamma (ones) and beta (zeros), (channels) each.
inline std::vector<ParameterSpec> normalization_parameters(std::int64_t channels, bool scale, bool center) {
  std::vector<ParameterSpec> specs;
  if (scale) specs.push_back({.name = "gamma", .shape = {channels}, .initializer = Initializer::kOnes});
  if (center) specs.push_back({.name = "beta", .shape = {channels}});
  return specs;
}

/// The gamma or beta of a normalization. If the layer has none, it is a constant, so that kernels need no
/// special case.
class Coefficients {
 public:
  /// `learned`: the node has a parameter `name`. Otherwise every one of `padded` channels has the value
  /// `constant`.
  Coefficients(const PlanBuilder& plan, const Node& node, std::string name, bool learned, float constant,
               std::int64_t padded)
      : name_(std::move(name)),
        parameter_(learned ? plan.parameter(node, name_).ref : Ref{}),
        constants_(static_cast<std::size_t>(padded), constant) {}

  /// Returns (padded channels) values.
  const float* at(const Frame& frame) const { return parameter_ ? frame.at(parameter_) : constants_.data(); }

  /// Returns the memory to which a kernel writes the gradient: the parameter's, or unused memory. Adds it to
  /// a step's `uses` and `completes`.
  Ref gradient(PlanBuilder& plan, const Node& node, std::vector<Ref>& uses,
               std::vector<std::size_t>& completes) const {
    if (!parameter_) return uses.emplace_back(plan.allocate_bytes(constants_.size() * sizeof(float)));
    completes.push_back(plan.slot(node, name_));
    return plan.gradient_of(node, name_).ref;
  }

 private:
  std::string name_;
  Ref parameter_;  ///< none: all channels have the constant
  std::vector<float> constants_;
};

}  // namespace convoke::nn
