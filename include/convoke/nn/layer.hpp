#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/core/shape.hpp"
#include "convoke/nn/initializer.hpp"
#include "convoke/nn/layer_traits.hpp"

namespace convoke::nn {

class PlanBuilder;
struct Node;
struct Symbol;

/// The type of a value's elements. Numbers are stored as fp32 or bf16, depending on the plan's precision;
/// tokens are int32.
enum class ValueType { kReal, kToken };

/// The shape and type of a value between layers, for one sample: images (C, H, W), sequences (L, F) and
/// features (F) of numbers, or tokens (L). Only a network's input can be tokens.
struct ValueSpec : Shape {
  ValueType type = ValueType::kReal;

  ValueSpec() = default;
  ValueSpec(Shape shape, ValueType t = ValueType::kReal) : Shape(std::move(shape)), type(t) {}  // NOLINT
  ValueSpec(std::initializer_list<std::int64_t> extents) : Shape(extents) {}

  /// "(N, 300) of tokens", "(N, 3, 224, 224)".
  std::string describe() const { return with_batch() + (type == ValueType::kToken ? " of tokens" : ""); }
};

/// Returns the channels of an image, or the features of a sequence or vector.
inline std::int64_t channels_of(const Shape& value) { return value.rank() == 2 ? value[1] : value[0]; }

/// Returns tokens (L) as an input: `Graph graph(tokens(300))`.
inline ValueSpec tokens(std::int64_t length) { return {Shape{length}, ValueType::kToken}; }

/// One parameter of a layer, in canonical layout: OIHW for convolutions, OI for dense layers, (C) for
/// vectors.
struct ParameterSpec {
  std::string name;  ///< "weight", "bias", "gamma", ...; unique within the layer
  Shape shape;       ///< canonical
  Initializer initializer = Initializer::kZeros;
  std::int64_t fan_in = 0;  ///< for the initializer: inputs and outputs that one weight row sees
  std::int64_t fan_out = 0;
  bool trainable = true;  ///< optimized; false: a statistic (running mean, running variance) or frozen
  /// For a statistic: new = momentum * old + (1 - momentum) * (mean over the step's micro-batches). 1: never
  /// changes.
  double momentum = 0;
  bool frozen = false;  ///< no gradient, no update; trainable is then false (set by Graph)
  /// Penalty on weights (not biases): l1 sum |w| + l2 sum w^2 is added to the loss; both >= 0.
  double l1 = 0, l2 = 0;
  double rate_factor = 1;         ///< the step's learning rate is multiplied by it, > 0
  std::int64_t frozen_steps = 0;  ///< training steps in which it was frozen: the optimizer counts from there

  /// True if every step updates it without the optimizer.
  bool statistic() const { return !trainable && !frozen; }
};

/// A layer: hyper-parameters, the shapes that follow from them, and how it becomes part of a plan. Immutable;
/// holds no weights. To add a layer, write one class like this and add one line to src/nn/layer_table.cpp.
class Layer {
 public:
  virtual ~Layer() = default;

  /// Returns the name in recipes and stored graphs: "conv2d".
  virtual std::string_view type() const = 0;
  /// Returns the output shape of one sample, by default that of the first input; outputs are always numbers.
  /// Throws Error that names the shapes if the inputs do not fit.
  virtual Shape output_shape(std::span<const ValueSpec> inputs) const { return inputs[0]; }
  /// Returns the parameters for these inputs, in the order in which they are stored; empty for most layers.
  virtual std::vector<ParameterSpec> parameters(std::span<const ValueSpec>) const { return {}; }
  /// Returns the other facts that graph, plan and engine need.
  virtual LayerTraits traits() const { return {}; }
  /// Returns the name and the hyper-parameters, from which the layer table makes an equal layer. A layer with
  /// hyper-parameters is a KeyedLayer (layer_keys.hpp).
  virtual Settings settings() const { return {{"layer", type()}}; }
  /// Adds this layer's forward steps to a plan, and its steps to the plan's backward pass.
  virtual void compile(PlanBuilder& plan, const Node& node) const = 0;
};

using LayerPtr = std::shared_ptr<const Layer>;

}  // namespace convoke::nn
