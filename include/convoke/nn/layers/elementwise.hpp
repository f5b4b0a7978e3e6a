#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

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
