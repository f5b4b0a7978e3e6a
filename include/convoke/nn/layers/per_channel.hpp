#pragma once
#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

struct PReluOptions {
  /// start of alpha; the default is Keras', PyTorch's is constant 0.25
  Initializer initializer = Initializer::kZeros;
};

/// x > 0 ? x : alpha x with a learned alpha for each channel (or feature). Any shape, which it keeps.
/// Parameter: alpha (C). K. He et al., "Delving deep into rectifiers", ICCV 2015; equal to PyTorch's layer
/// with num_parameters = C, and to Keras' with shared_axes = [1, 2].
class PRelu final : public KeyedLayer<PReluOptions> {
 public:
  explicit PRelu(PReluOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "prelu"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override { return inputs[0]; }
  std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override { return {.is_activation = true}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

struct ChannelScaleOptions {
  double initial = 1e-6;  ///< every gamma before training, as in ConvNeXt
};

/// y = gamma x with a learned gamma for each channel (or feature). Any shape, which it keeps. At the end of a
/// residual branch it is "layer scale": H. Touvron et al., "Going deeper with image transformers", ICCV 2021.
/// Parameter: gamma (C).
class ChannelScale final : public KeyedLayer<ChannelScaleOptions> {
 public:
  explicit ChannelScale(ChannelScaleOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "channel_scale"; }
  std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol prelu(Symbol x, PReluOptions options = {}) { return apply(PRelu(std::move(options)), x); }
inline Symbol channel_scale(Symbol x, ChannelScaleOptions options = {}) {
  return apply(ChannelScale(options), x);
}

struct RescaleOptions {
  double scale = 1;
  double offset = 0;
};

/// y = scale x + offset. Any shape, which it keeps. Equal to Keras' Rescaling: scale 1 / 127.5 and offset -1
/// map pixels to [-1, 1].
class Rescale final : public KeyedLayer<RescaleOptions> {
 public:
  explicit Rescale(RescaleOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "rescale"; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

struct StandardizeOptions {
  std::vector<double> mean;      ///< one for each channel or feature, or one for all
  std::vector<double> variance;  ///< as many, > 0
};

/// y = (x - mean) / sqrt(variance) for each channel of (N, C, H, W), or feature of (N, L, F) or (N, F); equal
/// to Keras' Normalization with mean and variance.
class Standardize final : public KeyedLayer<StandardizeOptions> {
 public:
  explicit Standardize(StandardizeOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "standardize"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
  static void check(const SettingsReader& read, const StandardizeOptions& o);
};

inline Symbol rescale(Symbol x, RescaleOptions options) { return apply(Rescale(options), x); }
inline Symbol standardize(Symbol x, StandardizeOptions options) {
  return apply(Standardize(std::move(options)), x);
}

}  // namespace convoke::nn
