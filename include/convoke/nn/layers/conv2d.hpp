#pragma once
#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

struct Conv2dOptions {
  std::int64_t filters = 0;  ///< output channels, >= 1
  Extent kernel{3};
  Extent stride{1};
  Padding padding{};  ///< default valid, as in Keras
  Extent dilation{1};
  std::int64_t groups = 1;  ///< divides both the input channels and the filters; equal to both: depthwise
  bool bias = true;
  Initializers initializers{};
};

/// 2-D convolution (cross-correlation), (N, C, H, W) -> (N, filters, H', W').
/// Parameters: weight (filters, C / groups, kh, kw), bias (filters).
class Conv2d final : public KeyedLayer<Conv2dOptions> {
 public:
  explicit Conv2d(Conv2dOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "conv2d"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol conv2d(Symbol x, Conv2dOptions options) { return apply(Conv2d(options), x); }

}  // namespace convoke::nn
