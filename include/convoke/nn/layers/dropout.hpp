#pragma once
#include "convoke/nn/layer.hpp"

namespace convoke::nn {

struct Symbol;

/// Zeroes elements with probability `rate` in training and scales the others by 1 / (1 - rate); passes
/// through otherwise. N. Srivastava et al., "Dropout", JMLR 15, 2014. Which elements is decided by (seed,
/// epoch, sample, node) alone, so any number of ranks and threads drops the same ones.
class Dropout final : public Layer {
 public:
  explicit Dropout(double rate) : rate_(rate) {}
  std::string_view type() const override { return "dropout"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override { return inputs[0]; }
  Settings settings() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static LayerPtr make(SettingsReader& read);

 private:
  double rate_;
};

Symbol dropout(Symbol x, double rate);

}  // namespace convoke::nn
