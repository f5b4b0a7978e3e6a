#pragma once
#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

struct LocalResponseNormOptions {
  std::int64_t size = 5;  ///< neighboring channels in a window, >= 1
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 1;  ///< > 0
};

/// y = x (k + alpha / size sum of x^2 over the channels of a window)^-beta for images (N, C, H, W), which
/// keep their shape. A. Krizhevsky, I. Sutskever, G. Hinton, "ImageNet classification with deep convolutional
/// neural networks", NeurIPS 2012. Meaning and defaults are PyTorch's, which divides alpha by the window's
/// size (the paper's 1e-4 is 5e-4 here), and which counts an even window's extra channel before the center.
class LocalResponseNorm final : public KeyedLayer<LocalResponseNormOptions> {
 public:
  explicit LocalResponseNorm(LocalResponseNormOptions options = {})
      : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "local_response_norm"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol local_response_norm(Symbol x, LocalResponseNormOptions options = {}) {
  return apply(LocalResponseNorm(options), x);
}

}  // namespace convoke::nn
