#pragma once
#include "convoke/nn/layer.hpp"

namespace convoke::nn {

struct Symbol;

struct ResizeOptions {
  enum class Method { kNearest, kBilinear };
  Extent size{0};   ///< size of the output; 0 if `scale` is given
  Extent scale{0};  ///< factor on the input's size; 0 if `size` is given
  Method method = Method::kNearest;
};

/// (N, C, H, W) -> (N, C, H', W') by interpolation. Output pixel o reads the input at (o + 1/2) H / H' - 1/2
/// (half-pixel centres), without smoothing when the image shrinks. Equal to Keras' Resizing and UpSampling2D
/// and to PyTorch's interpolate with "nearest-exact" or "bilinear" (align_corners=False). PyTorch's "nearest"
/// differs where the size is not a multiple of the input's.
class Resize final : public Layer {
 public:
  explicit Resize(ResizeOptions options) : options_(options) {}
  std::string_view type() const override { return "resize"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  Settings settings() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static LayerPtr make(LayerReader& read);

 private:
  ResizeOptions options_;
};

Symbol resize(Symbol x, ResizeOptions options);

}  // namespace convoke::nn
