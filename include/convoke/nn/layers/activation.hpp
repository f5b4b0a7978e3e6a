#pragma once
#include "convoke/nn/layer.hpp"

namespace convoke::nn {

struct Symbol;

/// An element-wise function of one input: relu, sigmoid, tanh. A ReLU usually vanishes into its neighbour
/// (nn/plan/fusion).
class Activation final : public Layer {
 public:
  enum class Function { kRelu, kSigmoid, kTanh };
  explicit Activation(Function function) : function_(function) {}
  std::string_view type() const override;
  Shape output_shape(std::span<const ValueSpec> inputs) const override { return inputs[0]; }
  Settings settings() const override { return {{"layer", type()}}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

 private:
  Function function_;
};

Symbol relu(Symbol x);
Symbol sigmoid(Symbol x);
Symbol tanh(Symbol x);

}  // namespace convoke::nn
