#pragma once
#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

struct BatchNormOptions {
  double momentum = 0.99;  ///< momentum of the running statistics, [0, 1]
  double epsilon = 1e-3;   ///< added to the variance, > 0
  bool scale = true;       ///< use gamma
  bool center = true;      ///< use beta
  bool frozen = false;     ///< training also uses the running statistics, which then do not change
  bool synchronized =
      false;  ///< statistics of the whole batch, over all micro-batches and ranks; the name is Keras'
};

/// Batch normalization per channel or feature, over the samples (and pixels, or time steps of a sequence) of
/// a micro-batch or, with `synchronized`, of the whole batch. Each step moves the running statistics
/// by the mean over its micro-batches. S. Ioffe, C. Szegedy, "Batch Normalization", ICML 2015; defaults and
/// biased variance are those of Keras. (N, C, H, W), (N, L, C) and (N, C) keep their shape. Parameters:
/// gamma, beta (C); statistics running_mean, running_variance (C).
class BatchNorm final : public KeyedLayer<BatchNormOptions> {
 public:
  explicit BatchNorm(BatchNormOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "batch_norm"; }
  std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
  static void check(const SettingsReader& read, const BatchNormOptions& o);
};

inline Symbol batch_norm(Symbol x, BatchNormOptions options = {}) { return apply(BatchNorm(options), x); }

struct GroupNormOptions {
  std::int64_t groups = 32;  ///< divides the channels; equal to the channels: instance normalization
  double epsilon = 1e-3;     ///< added to the variance, > 0; the default is Keras', PyTorch's is 1e-5
  bool scale = true;         ///< use gamma
  bool center = true;        ///< use beta
};

/// Group normalization: over the channels of a group and all pixels (or time steps of a sequence). Each
/// sample is normalized separately, so neither micro-batch nor batch matters. (N, C, H, W), (N, L, C) and (N,
/// C) keep their shape. Parameters: gamma (ones), beta (zeros), (C). Y. Wu, K. He, "Group normalization",
/// ECCV 2018; the defaults are Keras'.
class GroupNorm final : public KeyedLayer<GroupNormOptions> {
 public:
  explicit GroupNorm(GroupNormOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "group_norm"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol group_norm(Symbol x, GroupNormOptions options = {}) { return apply(GroupNorm(options), x); }

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
