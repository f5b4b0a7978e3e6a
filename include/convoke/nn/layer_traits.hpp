#pragma once
#include <cstdint>
#include <optional>

#include "convoke/nn/window.hpp"

namespace convoke::nn {

/// The activations that the layer before them can compute in its own pass over memory (nn/plan/fusion).
enum class FusibleActivation { kNone, kRelu, kRelu6, kSilu, kHardSwish };

/// Facts about a layer by which the graph, the plan and the engine decide, so that none of them knows a layer
/// by its name. A layer names only what differs from these defaults.
struct LayerTraits {
  enum class Inputs { kOne, kOneOrMore, kSeveral };

  // Inputs and output.
  Inputs inputs = Inputs::kOne;  ///< the graph refuses any other number
  bool takes_tokens = false;     ///< an input may be tokens; the graph refuses them for all other layers
  std::int64_t vocabulary = 0;   ///< its input is tokens in [0, vocabulary); 0: its input is numbers
  bool reads_by_time = false;    ///< reads the same place of all samples before the next place
  bool is_view = false;          ///< its output is the memory of its input

  // Training.
  bool draws_random = false;      ///< in training its output depends on random numbers
  bool ends_branch = false;       ///< belongs to the residual branch before it, and is frozen with that
  bool is_frozen = false;         ///< its input comes from frozen nodes of another graph
  bool synchronizes = false;      ///< its statistics are those of the whole batch, over all plans
  bool is_activation = false;     ///< `activation = "..."` may name it
  bool takes_activation = false;  ///< may have `activation` though it has no weights
  bool joins_loss = false;        ///< as the last layer it may be a part of the loss

  // Fusion: work that one pass over memory can share.
  FusibleActivation activation = FusibleActivation::kNone;  ///< all that it computes
  bool applies_relu = false;                                ///< can apply a ReLU that follows
  bool applies_curves = false;                              ///< and a relu6, silu or hard_swish
  bool pools_behind_relu = false;  ///< can do the max pooling behind that ReLU too, if its windows tile
  bool pools_image = false;  ///< can do a 2 x 2 max pooling that follows, if it reads the network's input

  /// It adds these zeroes around an image, and nothing else.
  std::optional<Border> zero_border = {};
  bool takes_zero_border = false;  ///< its padding can include such a border
  struct MaxWindows {
    Extent size;
    bool inside = false;  ///< all windows lie inside the image
    bool tile = false;    ///< and do not overlap
  };
  std::optional<MaxWindows> max_windows = {};  ///< it takes the maximum of each
};

}  // namespace convoke::nn
