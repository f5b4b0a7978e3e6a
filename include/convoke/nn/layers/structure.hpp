#pragma once
#include "convoke/nn/layer.hpp"

namespace convoke::nn {

struct Symbol;

/// (N, C, H, W) -> (N, C * H * W), channels first; (N, L, F) -> (N, L * F). Costs nothing: a view.
class Flatten final : public Layer {
 public:
  std::string_view type() const override { return "flatten"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override { return {inputs[0].elements()}; }
  LayerTraits traits() const override { return {.is_view = true}; }
  Settings settings() const override { return {{"layer", "flatten"}}; }
  void compile(PlanBuilder& plan, const Node& node) const override;
};

/// y = x. Costs nothing: a view.
class Identity final : public Layer {
 public:
  std::string_view type() const override { return "identity"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override { return inputs[0]; }
  LayerTraits traits() const override { return {.is_view = true}; }
  Settings settings() const override { return {{"layer", "identity"}}; }
  void compile(PlanBuilder& plan, const Node& node) const override;
};

/// Element-wise sum of two or more inputs of one shape: the residual connection.
class Add final : public Layer {
 public:
  std::string_view type() const override { return "add"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override {
    return {.inputs = LayerTraits::Inputs::kSeveral, .takes_activation = true, .applies_relu = true};
  }
  Settings settings() const override { return {{"layer", "add"}}; }
  void compile(PlanBuilder& plan, const Node& node) const override;
};

Symbol flatten(Symbol x);
Symbol identity(Symbol x);
Symbol add(Symbol a, Symbol b);

}  // namespace convoke::nn
