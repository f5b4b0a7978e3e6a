#pragma once
#include <cstddef>
#include <string>

#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// Returns the last node of the frozen prefix: the part of `graph` that computes the same from a sample in
/// every step of training. This node and all nodes before it have no parameters that change (they are frozen,
/// or statistics of a frozen batch norm) and draw no random numbers (inference_nodes() in freeze.hpp), and
/// the rest of the network reads only this node's output. Returns 0, the input, if no such part has
/// parameters.
std::size_t frozen_prefix(const Graph& graph);

/// Returns the name of the first node that ends the frozen prefix, because it is trained or draws random
/// numbers; "" if there is none.
std::string first_not_fixed(const Graph& graph);

/// True if the nodes after `last` read no node before it, nor share its parameters.
bool separates(const Graph& graph, std::size_t last);

/// Returns nodes 0 .. `last` of `graph` as a separate network.
Graph prefix_of(const Graph& graph, std::size_t last);

/// Returns the nodes after `last`, which separates() them from the rest, as a network that takes its output.
/// The nodes of the prefix remain as identities, so that every node keeps its number, which addresses its
/// random numbers. Its plans read the input in the layout in which plans of `graph` store that output, so
/// both round alike.
Graph suffix_of(const Graph& graph, std::size_t last);

}  // namespace convoke::nn
