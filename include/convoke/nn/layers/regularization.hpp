#pragma once
#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

struct DropoutOptions {
  double rate = 0;  ///< [0, 1)
  bool spatial =
      false;  ///< drop whole channels of (N, C, H, W), or features of (N, L, F), as Keras' SpatialDropout
};

/// Zeroes elements with probability `rate` in training and scales the others by 1 / (1 - rate); in evaluation
/// it passes its input through. N. Srivastava et al., "Dropout", JMLR 15, 2014. (seed, epoch, sample, repeat,
/// node) alone decide which elements are dropped, so the result does not depend on the number of ranks and
/// threads. `spatial` drops whole channels: J. Tompson et al., "Efficient object localization using
/// convolutional networks", CVPR 2015.
class Dropout final : public KeyedLayer<DropoutOptions> {
 public:
  explicit Dropout(DropoutOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "dropout"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override { return {.draws_random = options_.rate > 0}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

struct StochasticDepthOptions {
  double rate = 0;  ///< [0, 1)
};

/// Ends a residual branch. In training it zeroes the branch's whole value of a sample with probability
/// `rate`, and scales it by 1 / (1 - rate) otherwise; in evaluation it passes its input through. Any shape,
/// which it keeps. G. Huang et al., "Deep networks with stochastic depth", ECCV 2016; equal to torchvision's
/// mode "row" and to "drop path". (seed, epoch, sample, repeat, node) alone decide which samples are zeroed.
class StochasticDepth final : public KeyedLayer<StochasticDepthOptions> {
 public:
  explicit StochasticDepth(StochasticDepthOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "stochastic_depth"; }
  LayerTraits traits() const override { return {.draws_random = options_.rate > 0, .ends_branch = true}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol dropout(Symbol x, double rate) { return apply(Dropout(DropoutOptions{rate}), x); }
inline Symbol dropout(Symbol x, DropoutOptions options) { return apply(Dropout(options), x); }
inline Symbol stochastic_depth(Symbol x, double rate) {
  return apply(StochasticDepth(StochasticDepthOptions{rate}), x);
}

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
