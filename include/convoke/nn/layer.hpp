#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/nn/value.hpp"

namespace convoke::nn {

class PlanBuilder;
struct Node;

/// How a parameter starts.
enum class Initializer {
  kZeros,
  kOnes,
  kGlorotUniform,
  kUniform,         ///< in +-0.05, Keras' "uniform"
  kOrthogonal,      ///< of a matrix: orthonormal rows or columns, whichever are fewer
  kUnitForgetBias,  ///< an LSTM's bias (4 U): ones for the forget gate, the second quarter, else zeros
};

/// One parameter of a layer, in canonical layout: OIHW for convolutions, OI for dense layers, (C) for
/// vectors.
struct ParameterSpec {
  std::string name;  ///< "weight", "bias", "gamma", ...; unique within the layer
  Shape shape;       ///< canonical
  Initializer initializer = Initializer::kZeros;
  std::int64_t fan_in = 0;  ///< for Glorot: inputs and outputs that one weight row sees
  std::int64_t fan_out = 0;
  bool trainable = true;  ///< false: a statistic (running mean, running variance), updated but not optimised
  double momentum =
      0;  ///< of a statistic: new = momentum * old + (1 - momentum) * (mean over the step's lanes)
};

/// What a layer is: hyper-parameters, the shapes that follow from them, and how it becomes a plan. Immutable;
/// holds no weights. A new layer is one class like this and one line in src/nn/layer_table.cpp.
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
  /// True if an input may be tokens; the graph refuses them for all other layers.
  virtual bool takes_tokens() const { return false; }
  /// The hyper-parameters, such that the layer table makes an equal layer of them.
  virtual Settings settings() const = 0;
  /// Adds this layer's forward steps to a plan, and to its backward what it takes to get gradients.
  virtual void compile(PlanBuilder& plan, const Node& node) const = 0;
};

using LayerPtr = std::shared_ptr<const Layer>;

}  // namespace convoke::nn
