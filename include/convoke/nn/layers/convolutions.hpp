#pragma once
#include <optional>

#include "convoke/nn/layer_keys.hpp"

// The dense layer and the convolutions.
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

struct Conv2dTransposeOptions {
  std::int64_t filters = 0;  ///< output channels, >= 1
  Extent kernel{3};
  Extent stride{1};
  Padding padding{};  ///< rows and columns cut off the output; default valid, as in Keras
  /// Rows and columns added at the end, fewer than the stride. Absent: output = input * stride with "same",
  /// at least that with "valid"; 0 with explicit padding.
  std::optional<Extent> output_padding = {};
  Extent dilation{1};
  std::int64_t groups = 1;  ///< divides both the input channels and the filters
  bool bias = true;
};

/// Transposed convolution: the gradient of a convolution with respect to its input, as a layer. (N, C, H, W)
/// -> (N, filters, H', W') with H' = (H - 1) * stride + dilation * (kernel - 1) + 1 - padding +
/// output_padding. V. Dumoulin, F. Visin, "A guide to convolution arithmetic for deep learning", 2016; equal
/// to Keras' Conv2DTranspose and PyTorch's ConvTranspose2d.
/// Parameters: weight (filters, C / groups, kh, kw), Glorot uniform; bias (filters), zero. Keras stores the
/// weight as (kh, kw, filters, C), PyTorch as (C, filters / groups, kh, kw).
class Conv2dTranspose final : public KeyedLayer<Conv2dTransposeOptions> {
 public:
  explicit Conv2dTranspose(Conv2dTransposeOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "conv2d_transpose"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override { return {.linear_weight = "weight"}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();

 private:
  Window2d window(const Shape& input) const;
};

inline Symbol conv2d_transpose(Symbol x, Conv2dTransposeOptions options) {
  return apply(Conv2dTranspose(options), x);
}

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
