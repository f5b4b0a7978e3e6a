#pragma once
#include <vector>

#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// Element-wise functions of two or more inputs, as Keras' merging layers. All inputs have one shape, except
/// for Multiply.
class Merge : public Layer {
 public:
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override { return {.inputs = LayerTraits::Inputs::kSeveral}; }
};

/// Element-wise sum of two or more inputs of one shape: the residual connection.
class Add final : public Layer {
 public:
  std::string_view type() const override { return "add"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override {
    return {.inputs = LayerTraits::Inputs::kSeveral,
            .takes_activation = true,
            .applies_relu = true,
            .adds_inputs = true};
  }
  void compile(PlanBuilder& plan, const Node& node) const override;
};

/// y = a - b, with exactly two inputs.
class Subtract final : public Merge {
 public:
  std::string_view type() const override { return "subtract"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;
};

/// y = a * b * .... An input (C) or (C, 1, 1) scales the channels of images (C, H, W), and an input (F) the
/// features of sequences (L, F). J. Hu et al., "Squeeze-and-Excitation Networks", CVPR 2018.
class Multiply final : public Merge {
 public:
  std::string_view type() const override { return "multiply"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;
};

/// y = (a + b + ...) / number of inputs.
class Average final : public Merge {
 public:
  std::string_view type() const override { return "average"; }
  void compile(PlanBuilder& plan, const Node& node) const override;
};

/// y = max(a, b, ...) of at most 255 inputs; among equal inputs the first gets the gradient.
class Maximum final : public Merge {
 public:
  std::string_view type() const override { return "maximum"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;
};

inline Symbol add(Symbol a, Symbol b) { return merge(Add(), {a, b}); }
inline Symbol subtract(Symbol a, Symbol b) { return merge(Subtract(), {a, b}); }
inline Symbol multiply(const std::vector<Symbol>& inputs) { return merge(Multiply(), inputs); }
inline Symbol average(const std::vector<Symbol>& inputs) { return merge(Average(), inputs); }
inline Symbol maximum(const std::vector<Symbol>& inputs) { return merge(Maximum(), inputs); }

}  // namespace convoke::nn
