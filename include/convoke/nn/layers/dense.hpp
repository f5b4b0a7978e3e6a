#pragma once
#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

struct DenseOptions {
  std::int64_t units = 0;  ///< outputs, >= 1
  bool bias = true;
  Initializers initializers{};
};

/// Fully connected layer, (N, F) -> (N, units): y = x W^T + b.
/// Parameters: weight (units, F), bias (units).
class Dense final : public KeyedLayer<DenseOptions> {
 public:
  explicit Dense(DenseOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "dense"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override { return {.linear_weight = "weight", .applies_relu = true}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol dense(Symbol x, DenseOptions options) { return apply(Dense(options), x); }

}  // namespace convoke::nn
