#pragma once
#include "convoke/nn/layer.hpp"

namespace convoke::nn {

struct Symbol;

/// Adds normal noise with standard deviation `stddev` in training and passes its input through otherwise, as
/// Keras' layer. Any shape, which it keeps. The noise follows from (seed, epoch, sample, node) alone.
class GaussianNoise final : public Layer {
 public:
  explicit GaussianNoise(double stddev) : stddev_(stddev) {}
  std::string_view type() const override { return "gaussian_noise"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override { return inputs[0]; }
  LayerTraits traits() const override { return {.draws_random = stddev_ > 0}; }
  Settings settings() const override { return {{"layer", "gaussian_noise"}, {"stddev", stddev_}}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static LayerPtr make(LayerReader& read);

 private:
  double stddev_;
};

Symbol gaussian_noise(Symbol x, double stddev);

}  // namespace convoke::nn
