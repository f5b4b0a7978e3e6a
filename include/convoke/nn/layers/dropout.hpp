#pragma once
#include "convoke/nn/layer.hpp"

namespace convoke::nn {

struct Symbol;

struct DropoutOptions {
  double rate = 0;  ///< [0, 1)
  bool spatial =
      false;  ///< whole channels of (N, C, H, W), or features of (N, L, F), as Keras' SpatialDropout
};

/// Zeroes elements with probability `rate` in training and scales the others by 1 / (1 - rate); passes
/// through otherwise. N. Srivastava et al., "Dropout", JMLR 15, 2014. Which elements is decided by (seed,
/// epoch, sample, node) alone, so any number of ranks and threads drops the same ones. With `spatial`, whole
/// channels: J. Tompson et al., "Efficient object localization using convolutional networks", CVPR 2015.
class Dropout final : public Layer {
 public:
  explicit Dropout(DropoutOptions options) : options_(options) {}
  std::string_view type() const override { return "dropout"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override { return {.draws_random = options_.rate > 0}; }
  Settings settings() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static LayerPtr make(LayerReader& read);

 private:
  DropoutOptions options_;
};

/// At the end of a residual branch: zeroes the branch's whole value of a sample with probability `rate` in
/// training, and scales it by 1 / (1 - rate) otherwise; passes through in evaluation. Any shape, which it
/// keeps. G. Huang et al., "Deep networks with stochastic depth", ECCV 2016; as torchvision's mode "row" and
/// "drop path". Which samples is decided by (seed, epoch, sample, node) alone.
class StochasticDepth final : public Layer {
 public:
  explicit StochasticDepth(double rate) : rate_(rate) {}
  std::string_view type() const override { return "stochastic_depth"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override { return inputs[0]; }
  LayerTraits traits() const override { return {.draws_random = rate_ > 0, .ends_branch = true}; }
  Settings settings() const override { return {{"layer", "stochastic_depth"}, {"rate", rate_}}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static LayerPtr make(LayerReader& read);

 private:
  double rate_;
};

Symbol dropout(Symbol x, double rate);
Symbol dropout(Symbol x, DropoutOptions options);
Symbol stochastic_depth(Symbol x, double rate);

}  // namespace convoke::nn
