#pragma once
#include "convoke/nn/layer.hpp"

namespace convoke::nn {

struct Symbol;

struct LayerNormOptions {
  /// What is normalised over: the features of (N, L, F) and (N, F), or the channels of (N, C, H, W), each
  /// pixel by itself.
  enum class Over { kFeatures, kChannels };
  Over axis = Over::kFeatures;
  double epsilon = 1e-3;  ///< added to the variance, > 0; as Keras, PyTorch's is 1e-5
  bool scale = true;      ///< with gamma
  bool center = true;     ///< with beta
};

/// Layer normalisation over the last axis, as Keras: (N, L, F), (N, F); with axis "channels" of images
/// (N, C, H, W), ConvNeXt's LayerNorm2d, which is Keras' of an image that is stored channels last. Shapes
/// stay. Parameters: gamma (ones), beta (zeros), (F) or (C). J. Ba, J. Kiros, G. Hinton, "Layer
/// normalization", 2016.
class LayerNorm final : public Layer {
 public:
  explicit LayerNorm(LayerNormOptions options = {}) : options_(options) {}
  std::string_view type() const override { return "layer_norm"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const override;
  Settings settings() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static LayerPtr make(LayerReader& read);

 private:
  LayerNormOptions options_;
};

Symbol layer_norm(Symbol x, LayerNormOptions options = {});

}  // namespace convoke::nn
