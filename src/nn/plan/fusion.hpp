#pragma once
#include <cstddef>
#include <vector>

#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// The work of its neighbours that a node does too, because passes over memory cost more than arithmetic. The
/// nodes that it has taken in compile to nothing.
struct Fusion {
  bool absorbed = false;           ///< some earlier node does this one's work
  bool relu = false;               ///< this node also applies ReLU,
  bool relu6 = false;              ///< one that is cut off at 6 (relu is set too)
  const Node* curve = nullptr;     ///< or this silu or hard_swish,
  const Node* max_pool = nullptr;  ///< ... and this pooling
  const Node* zero_pad = nullptr;  ///< its padding includes what this node before it would add
  std::size_t output = 0;  ///< the node whose value this one produces: itself, or the last one taken in
};

/// Decides by the graph and the traits of its layers alone, one entry per node:
///   a convolution, dense, add + relu -> applied to the result as it is written
///   batch_norm + relu (+ max_pool)  -> one pass; windows that tile the image
///   batch_norm + relu6, silu, hard_swish -> one pass
///   conv2d + max_pool, relu between or after -> one pass, where LayerTraits::pools_image says so,
///                                      on at most 4 channels of the network's input
///   relu + max_pool                 -> max(relu(x)) = relu(max(x)): applied to the pooled values
///   zero_pad + conv2d, depthwise_conv2d, and of a ReLU's value + max_pool -> padding of the window
/// A node is taken in only if nothing else reads the value in between.
std::vector<Fusion> fuse(const Graph& graph);

}  // namespace convoke::nn
