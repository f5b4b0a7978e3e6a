#pragma once
#include <optional>

#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

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

}  // namespace convoke::nn
