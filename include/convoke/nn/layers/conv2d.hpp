#pragma once
#include "convoke/nn/layer.hpp"

namespace convoke::nn {

struct Symbol;

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
class Conv2d final : public Layer {
 public:
  explicit Conv2d(Conv2dOptions options) : options_(options) {}
  std::string_view type() const override { return "conv2d"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override;
  Settings settings() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  const Conv2dOptions& options() const { return options_; }

  static LayerPtr make(LayerReader& read);

 private:
  Conv2dOptions options_;
};

Symbol conv2d(Symbol x, Conv2dOptions options);

}  // namespace convoke::nn
