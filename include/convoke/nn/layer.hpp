#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/nn/initializer.hpp"
#include "convoke/nn/layer_reader.hpp"
#include "convoke/nn/layer_traits.hpp"
#include "convoke/nn/value.hpp"

namespace convoke::nn {

class PlanBuilder;
struct Node;

/// One parameter of a layer, in canonical layout: OIHW for convolutions, OI for dense layers, (C) for
/// vectors.
struct ParameterSpec {
  std::string name;  ///< "weight", "bias", "gamma", ...; unique within the layer
  Shape shape;       ///< canonical
  Initializer initializer = Initializer::kZeros;
  std::int64_t fan_in = 0;  ///< for the initializer: inputs and outputs that one weight row sees
  std::int64_t fan_out = 0;
  bool trainable = true;  ///< optimised; false: a statistic (running mean, running variance) or frozen
  /// For a statistic: new = momentum * old + (1 - momentum) * (mean over the step's lanes); 1: never changes.
  double momentum = 0;
  bool frozen = false;  ///< stays as it is: no gradient, no update; trainable is false then (set by Graph)
  /// Penalty of weights (not bias): l1 sum |w| + l2 sum w^2 is added to the loss; both >= 0.
  double l1 = 0, l2 = 0;
  double rate_factor = 1;         ///< times the step's learning rate, > 0
  std::int64_t frozen_steps = 0;  ///< training steps before it was trained: the optimizer counts from there

  /// Updated with every step, but not by the optimizer.
  bool statistic() const { return !trainable && !frozen; }
};

/// A layer: hyper-parameters, the shapes that follow from them, and how it becomes a plan. Immutable; holds
/// no weights. A new layer is one class like this and one line in src/nn/layer_table.cpp.
class Layer {
 public:
  virtual ~Layer() = default;

  /// The name in recipes and stored graphs: "conv2d".
  virtual std::string_view type() const = 0;
  /// Shape of the output of one sample, which is always of numbers. Throws Error that names the shapes if the
  /// inputs do not fit.
  virtual Shape output_shape(std::span<const ValueSpec> inputs) const = 0;
  /// The parameters for these inputs, in the order in which they are stored; empty for most layers.
  virtual std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const;
  /// What graph, plan and engine must know of it besides.
  virtual LayerTraits traits() const { return {}; }
  /// The hyper-parameters, such that the layer table makes an equal layer of them.
  virtual Settings settings() const = 0;
  /// Adds this layer's forward steps to a plan, and to its backward what it takes to get gradients.
  virtual void compile(PlanBuilder& plan, const Node& node) const = 0;
};

using LayerPtr = std::shared_ptr<const Layer>;

}  // namespace convoke::nn
