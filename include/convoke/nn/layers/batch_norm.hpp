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

}  // namespace convoke::nn
