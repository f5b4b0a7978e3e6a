#pragma once
#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

struct ZeroPadOptions {
  Border padding = 1;
};

/// Adds zeroes around an image: (N, C, H, W) -> (N, C, top + H + bottom, left + W + right). A convolution
/// that follows includes them in its own padding (nn/plan/fusion).
class ZeroPad final : public KeyedLayer<ZeroPadOptions> {
 public:
  explicit ZeroPad(ZeroPadOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "zero_pad"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override { return {.zero_border = options_.padding}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

struct CropOptions {
  Border cropping{};
};

/// Removes the border of an image: (N, C, H, W) -> (N, C, H - top - bottom, W - left - right).
class Crop final : public KeyedLayer<CropOptions> {
 public:
  explicit Crop(CropOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "crop"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol zero_pad(Symbol x, Border padding = 1) { return apply(ZeroPad(ZeroPadOptions{padding}), x); }
inline Symbol crop(Symbol x, Border cropping) { return apply(Crop(CropOptions{cropping}), x); }

}  // namespace convoke::nn
