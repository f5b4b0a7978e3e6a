#pragma once
#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

struct LayerNormOptions {
  /// The normalized axis: the features of (N, L, F) and (N, F), or the channels of (N, C, H, W) for each
  /// pixel.
  enum class Over { kFeatures, kChannels };
  Over axis = Over::kFeatures;
  double epsilon = 1e-3;  ///< added to the variance, > 0; the default is Keras', PyTorch's is 1e-5
  bool scale = true;      ///< use gamma
  bool center = true;     ///< use beta
};

/// Layer normalization over the last axis, as in Keras: (N, L, F), (N, F). With axis "channels" it normalizes
/// images (N, C, H, W) as ConvNeXt's LayerNorm2d does, and as Keras does for images that are stored channels
/// last. Keeps the shape. Parameters: gamma (ones), beta (zeros), (F) or (C). J. Ba, J. Kiros, G. Hinton,
/// "Layer normalization", 2016.
class LayerNorm final : public KeyedLayer<LayerNormOptions> {
 public:
  explicit LayerNorm(LayerNormOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "layer_norm"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol layer_norm(Symbol x, LayerNormOptions options = {}) { return apply(LayerNorm(options), x); }

}  // namespace convoke::nn
