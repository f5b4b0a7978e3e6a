#pragma once
#include "convoke/nn/layer_keys.hpp"
#include "convoke/nn/layers/conv2d.hpp"

namespace convoke::nn {

struct DepthwiseConv2dOptions {
  Extent kernel{3};
  Extent stride{1};
  Padding padding{};  ///< default valid, as in Keras
  Extent dilation{1};
  std::int64_t multiplier = 1;  ///< outputs of each channel, >= 1
  bool bias = true;
};

/// Convolves every channel separately, (N, C, H, W) -> (N, C * multiplier, H', W'). Output channel c *
/// multiplier + m is channel c convolved with its m-th kernel, as in Keras' DepthwiseConv2D and in PyTorch's
/// Conv2d with C groups.
/// Parameters: weight (C * multiplier, 1, kh, kw), Glorot uniform; bias (C * multiplier), zero. PyTorch's
/// weight has the same shape; Keras' (kh, kw, C, multiplier) is mapped by [h, w, c, m] -> [c * multiplier +
/// m, 0, h, w].
class DepthwiseConv2d final : public KeyedLayer<DepthwiseConv2dOptions> {
 public:
  explicit DepthwiseConv2d(DepthwiseConv2dOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "depthwise_conv2d"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override {
    return {.linear_weight = "weight",
            .applies_relu = true,
            .applies_post_ops = true,
            .takes_zero_border = options_.padding.kind != Padding::Kind::kSame};
  }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

struct SeparableConv2dOptions {
  std::int64_t filters = 0;  ///< output channels, >= 1
  Extent kernel{3};
  Extent stride{1};
  Padding padding{};
  Extent dilation{1};
  std::int64_t multiplier = 1;  ///< outputs of each channel after the depthwise convolution, >= 1
  bool bias = true;
};

/// A depthwise convolution, directly followed by a 1 x 1 convolution over the channels:
/// (N, C, H, W) -> (N, C * multiplier, H', W') -> (N, filters, H', W'). F. Chollet, "Xception: Deep Learning
/// with Depthwise Separable Convolutions", CVPR 2017; equal to Keras' SeparableConv2D. Parameters:
/// depthwise_weight (C * multiplier, 1, kh, kw), as above; pointwise_weight (filters, C * multiplier, 1, 1),
/// both Glorot uniform; bias (filters), zero.
class SeparableConv2d final : public KeyedLayer<SeparableConv2dOptions> {
 public:
  explicit SeparableConv2d(SeparableConv2dOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "separable_conv2d"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override {
    return {.linear_weight = "pointwise_weight", .applies_relu = true, .applies_post_ops = true};
  }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol depthwise_conv2d(Symbol x, DepthwiseConv2dOptions options = {}) {
  return apply(DepthwiseConv2d(options), x);
}
inline Symbol separable_conv2d(Symbol x, SeparableConv2dOptions options) {
  return apply(SeparableConv2d(options), x);
}

}  // namespace convoke::nn
