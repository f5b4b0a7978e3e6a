#pragma once
#include "convoke/nn/layer_keys.hpp"
#include "convoke/nn/layers/conv2d.hpp"

namespace convoke::nn {

struct Conv1dOptions {
  std::int64_t filters = 0;  ///< output features, >= 1
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  Padding padding{};  ///< along the sequence; default valid, as in Keras
  std::int64_t dilation = 1;
  std::int64_t groups = 1;  ///< divides both the input features and the filters
  bool bias = true;
};

/// Convolution (cross-correlation) along a sequence, (N, L, F) -> (N, L', filters).
/// Parameters: weight (filters, F / groups, kernel), Glorot uniform; bias (filters), zero.
class Conv1d final : public KeyedLayer<Conv1dOptions> {
 public:
  explicit Conv1d(Conv1dOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "conv1d"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override {
    return {.linear_weight = "weight", .applies_relu = true, .applies_post_ops = true};
  }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol conv1d(Symbol x, Conv1dOptions options) { return apply(Conv1d(options), x); }

}  // namespace convoke::nn
