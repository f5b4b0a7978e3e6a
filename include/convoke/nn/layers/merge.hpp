#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/nn/graph.hpp"
#include "convoke/nn/layer_keys.hpp"

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

struct Function;

struct ElementwiseOptions {
  /// abs, ceil, cos, divide, equal, erf, exp, floor, greater, greater_equal, log, maximum, minimum, power,
  /// round (half to even), sign, sin, sqrt, subtract, where
  std::string function = "abs";
  /// For each operand of the function a number, or nothing for the layer's next input. Empty: all are inputs.
  std::vector<std::optional<double>> operands = {};
};

/// A function of one to three operands, element by element: inputs of one shape, which the output has too,
/// and numbers. Comparisons give 1 or 0; no gradient passes through them, nor through the condition of
/// `where` (first operand; 0 is false). Tokens are compared with a number, as a mask.
class Elementwise final : public KeyedLayer<ElementwiseOptions> {
 public:
  /// Throws Error if there is no such function, or if it has another number of operands.
  explicit Elementwise(ElementwiseOptions options = {});
  std::string_view type() const override { return "elementwise"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override {
    return {.inputs = LayerTraits::Inputs::kOneOrMore, .takes_tokens = true};
  }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();

 private:
  const Function& function_;
};

inline Symbol elementwise(std::string_view function, const std::vector<Symbol>& inputs,
                          std::vector<std::optional<double>> operands = {}) {
  return merge(Elementwise({.function = std::string(function), .operands = std::move(operands)}), inputs);
}

}  // namespace convoke::nn
