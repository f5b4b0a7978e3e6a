#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

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

}  // namespace convoke::nn
