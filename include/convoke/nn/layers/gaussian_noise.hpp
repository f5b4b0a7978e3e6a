#pragma once
#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

struct GaussianNoiseOptions {
  double stddev = 0;  ///< >= 0
};

/// Adds normal noise with standard deviation `stddev` in training and passes its input through otherwise, as
/// Keras' layer. Any shape, which it keeps. The noise follows from (seed, epoch, sample, repeat, node) alone.
class GaussianNoise final : public KeyedLayer<GaussianNoiseOptions> {
 public:
  explicit GaussianNoise(GaussianNoiseOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "gaussian_noise"; }
  LayerTraits traits() const override { return {.draws_random = options_.stddev > 0}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol gaussian_noise(Symbol x, double stddev) {
  return apply(GaussianNoise(GaussianNoiseOptions{stddev}), x);
}

}  // namespace convoke::nn
