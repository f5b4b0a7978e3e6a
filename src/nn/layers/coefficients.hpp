#pragma once
#include <string>
#include <vector>

#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

/// gamma (ones) and beta (zeros), (channels) each, if the layer has them.
inline std::vector<ParameterSpec> normalisation_parameters(std::int64_t channels, bool scale, bool center) {
  std::vector<ParameterSpec> specs;
  if (scale) specs.push_back({.name = "gamma", .shape = {channels}, .initializer = Initializer::kOnes});
  if (center) specs.push_back({.name = "beta", .shape = {channels}});
  return specs;
}

/// The gamma or beta of a normalisation, which it may be without: then a constant, so that kernels need not
/// know.
class Coefficients {
 public:
  /// `learned`: the node has a parameter `name`; else `constant`, over `padded` channels.
  Coefficients(const PlanBuilder& plan, const Node& node, std::string name, bool learned, float constant,
               std::int64_t padded)
      : name_(std::move(name)),
        learned_(learned),
        parameter_(learned ? plan.parameter(node, name_).ref : Ref{}),
        constants_(static_cast<std::size_t>(padded), constant) {}

  /// (padded channels)
  const float* at(const Frame& frame) const { return learned_ ? frame.at(parameter_) : constants_.data(); }

  /// Where a kernel writes the gradient, which is added to a step's `uses` and `completes`: the parameter's,
  /// or memory that nobody reads.
  Ref gradient(PlanBuilder& plan, const Node& node, std::vector<Ref>& uses,
               std::vector<std::size_t>& completes) const {
    if (!learned_) return uses.emplace_back(plan.allocate_bytes(constants_.size() * sizeof(float)));
    completes.push_back(plan.slot(node, name_));
    return plan.gradient_of(node, name_).ref;
  }

 private:
  std::string name_;
  bool learned_;
  Ref parameter_;
  std::vector<float> constants_;
};

}  // namespace convoke::nn
