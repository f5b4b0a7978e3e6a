#pragma once
#include <cstddef>
#include <string>

#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// The last node of the part of `graph` that makes the same of a sample in every step of training: it and all
/// nodes before it have no parameters that change (frozen ones, or statistics of a frozen batch norm) and
/// draw no random numbers (inference_nodes() in freeze.hpp), and the rest of the network sees nothing of that
/// part but this node's output. 0, the input, if there is no such part with parameters in it.
std::size_t frozen_prefix(const Graph& graph);

/// Name of the first node for which the part ends there: that is trained, or draws random numbers; "" if
/// there is none.
std::string first_not_fixed(const Graph& graph);

/// Nodes 0 .. `last` of `graph` as a network of its own.
Graph prefix_of(const Graph& graph, std::size_t last);

/// The nodes behind `last`, which is a frozen_prefix(), as a network that takes its output. The nodes of the
/// prefix stand in it as identities: every node keeps its number, which addresses its random numbers. Its
/// plans take the input in the layout in which those of `graph` have that output, so they round alike.
Graph suffix_of(const Graph& graph, std::size_t last);

}  // namespace convoke::nn
