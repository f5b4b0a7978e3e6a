#pragma once
#include "convoke/nn/layer.hpp"

namespace convoke::nn {

struct Symbol;

/// Adds zeroes around an image: (N, C, H, W) -> (N, C, top + H + bottom, left + W + right). A convolution
/// that follows includes them in its own padding (nn/plan/fusion).
class ZeroPad final : public Layer {
 public:
  explicit ZeroPad(Border padding) : padding_(padding) {}
  std::string_view type() const override { return "zero_pad"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  Settings settings() const override;
  LayerTraits traits() const override { return {.zero_border = padding_}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static LayerPtr make(LayerReader& read);

 private:
  Border padding_;
};

/// Removes the border of an image: (N, C, H, W) -> (N, C, H - top - bottom, W - left - right).
class Crop final : public Layer {
 public:
  explicit Crop(Border cropping) : cropping_(cropping) {}
  std::string_view type() const override { return "crop"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  Settings settings() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static LayerPtr make(LayerReader& read);

 private:
  Border cropping_;
};

Symbol zero_pad(Symbol x, Border padding = 1);
Symbol crop(Symbol x, Border cropping);

}  // namespace convoke::nn
