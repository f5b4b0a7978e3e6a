#pragma once
#include <cstddef>
#include <vector>

#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// The work of neighbors that a node also does, because passes over memory cost more than arithmetic. The
/// neighbors that were fused into it compile to nothing.
struct Fusion {
  bool absorbed = false;           ///< an earlier node does this node's work
  bool relu = false;               ///< this node also applies ReLU
  bool relu6 = false;              ///< the ReLU is a relu6 (relu is set too)
  const Node* curve = nullptr;     ///< this node also applies this silu or hard_swish
  const Node* sum = nullptr;       ///< this node also computes this sum of its output and another value
  const Node* max_pool = nullptr;  ///< this node also does this pooling, after the activation
  const Node* zero_pad = nullptr;  ///< this node's padding includes the border of this zero_pad
  /// Returns the function among relu, relu6 and curve.
  FusibleActivation activation() const {
    if (curve != nullptr) return curve->layer->traits().activation;
    return relu6 ? FusibleActivation::kRelu6 : relu ? FusibleActivation::kRelu : FusibleActivation::kNone;
  }
  std::size_t output = 0;  ///< the node whose value this one produces: itself, or the last node fused into it
};

/// Finds the fusions from the graph and the traits of its layers alone; returns one entry per node:
///   a convolution, dense, add + relu -> applied while the result is written
///   batch_norm + relu (+ max_pool)  -> one pass; windows that tile the image
///   batch_norm + relu6, silu, hard_swish -> one pass
///   conv2d + max_pool, relu between or after -> one pass, if LayerTraits::pools_image is set,
///                                      for a network input of at most 4 channels
///   relu + max_pool                 -> max(relu(x)) = relu(max(x)): applied to the pooled values
///   zero_pad + conv2d, depthwise_conv2d, relu + zero_pad + max_pool -> padding of the window
/// and with `post_ops` (PlanOptions):
///   convolution + relu6, silu, hard_swish -> applied while the result is written
///   convolution + add (+ relu)      -> added to the other input in its memory, if nothing reads that later
/// A node is fused only if no other node reads the value in between.
std::vector<Fusion> fuse(const Graph& graph, bool post_ops = false);

}  // namespace convoke::nn
