#pragma once
#include "convoke/nn/layer.hpp"

namespace convoke::nn {

struct Symbol;

struct PReluOptions {
  Initializer initializer = Initializer::kZeros;  ///< of alpha; as Keras, PyTorch's is constant 0.25
};

/// x > 0 ? x : alpha x with a learned alpha for each channel (or feature); any shape, which it keeps.
/// Parameter: alpha (C). K. He et al., "Delving deep into rectifiers", ICCV 2015; as PyTorch's with
/// num_parameters = C, and Keras' with shared_axes = [1, 2].
class PRelu final : public Layer {
 public:
  explicit PRelu(PReluOptions options = {}) : options_(std::move(options)) {}
  std::string_view type() const override { return "prelu"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override { return inputs[0]; }
  std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override { return {.is_activation = true}; }
  Settings settings() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static LayerPtr make(LayerReader& read);

 private:
  PReluOptions options_;
};

Symbol prelu(Symbol x, PReluOptions options = {});

}  // namespace convoke::nn
