#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/core/shape.hpp"
#include "convoke/nn/initializer.hpp"
#include "convoke/nn/window.hpp"

namespace convoke::nn {

/// Activations that the layer before them can compute in its own pass over memory (nn/plan/fusion).
enum class FusibleActivation { kNone, kRelu, kRelu6, kSilu, kHardSwish };

/// Facts about a layer on which the graph, the plan and the engine base their decisions, so that they need
/// not know layers by name. A layer sets only what differs from these defaults.
struct LayerTraits {
  enum class Inputs { kOne, kOneOrMore, kSeveral };

  // Inputs and output.
  Inputs inputs = Inputs::kOne;  ///< the graph refuses any other number of inputs
  bool takes_tokens = false;     ///< an input may be tokens; the graph refuses tokens for all other layers
  std::int64_t vocabulary = 0;   ///< the input is tokens in [0, vocabulary); 0: the input is numbers
  bool reads_by_time = false;    ///< reads a time step of all samples before it reads the next
  bool is_view = false;          ///< the output is the memory of the input

  // Training.
  bool draws_random = false;   ///< in training the output depends on random numbers
  bool ends_branch = false;    ///< belongs to the residual branch before it, and is frozen with that branch
  bool is_frozen = false;      ///< the input comes from frozen nodes of another graph
  bool synchronizes = false;   ///< statistics are those of the whole batch, over all plans
  bool is_activation = false;  ///< a layer's `activation = "..."` may name it
  bool takes_activation = false;  ///< may have `activation` although it has no weights
  bool joins_loss = false;        ///< as the last layer it can be a part of the loss

  // Inference (inference_graph.hpp).
  /// The parameter (outputs, ...) in which each output is linear; the layer may also have a `bias` (outputs),
  /// and a setting for it. Empty: there is no such parameter.
  std::string_view linear_weight = {};
  /// In prediction the layer is only y = gamma (x - running_mean) / sqrt(running_variance + this) + beta,
  /// with its parameters of these names, for each channel or feature.
  std::optional<double> norm_epsilon = {};

  // Fusion: work that can share one pass over memory.
  FusibleActivation activation = FusibleActivation::kNone;  ///< all that the layer computes
  bool applies_relu = false;                                ///< can apply a ReLU that follows
  bool applies_curves = false;  ///< can also apply a relu6, silu or hard_swish that follows
  /// in plans with PlanOptions::post_ops, can also apply such a function, or add the other input of a sum
  bool applies_post_ops = false;
  bool adds_inputs = false;        ///< computes the sum of its inputs and nothing else
  bool pools_behind_relu = false;  ///< can also do the max pooling after that ReLU if its windows tile
  bool pools_image = false;  ///< can do a 2 x 2 max pooling that follows if it reads the network's input

  /// The layer adds these zeroes around an image and does nothing else.
  std::optional<Border> zero_border = {};
  bool takes_zero_border = false;  ///< the layer's padding can include such a border
  struct MaxWindows {
    Extent size;
    bool inside = false;  ///< all windows lie inside the image
    bool tile = false;    ///< the windows lie inside and do not overlap
  };
  std::optional<MaxWindows> max_windows = {};  ///< the layer takes the maximum of each window
};

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
