#pragma once
#include "convoke/nn/layer.hpp"

namespace convoke::nn {

struct Symbol;

struct ResizeOptions {
  enum class Method { kNearest, kBilinear };
  Extent size{0};   ///< of the output; or
  Extent scale{0};  ///< times the input; the other is 0
  Method method = Method::kNearest;
};

/// (N, C, H, W) -> (N, C, H', W') by interpolation; output pixel o looks at (o + 1/2) H / H' - 1/2 of the
/// input (half-pixel centres), without smoothing when it shrinks. As Keras' Resizing and UpSampling2D and
/// PyTorch's interpolate with "nearest-exact" or "bilinear" (align_corners=False); PyTorch's "nearest"
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
