#pragma once
#include <string>
#include <vector>

#include "convoke/nn/graph.hpp"

// The names of a graph's parameters in PyTorch's state dicts.

namespace convoke::interop {

/// A parameter in a state dict. Its shape may differ from the canonical one by extents of 1: a dense layer of
/// ours can be a 1 x 1 convolution there.
struct StateEntry {
  std::string name;
  Shape shape;
};

/// A way to name parameters.
struct Naming {
  std::string scheme;               ///< "torchvision", "timm", "node names"
  std::vector<StateEntry> entries;  ///< for each of engine::canonical_parameters(graph)
};

/// Returns the ways in which a file may name the parameters of `graph`, the usual one first. Networks of
/// torchvision and timm are recognized by their nodes.
std::vector<Naming> state_dict_names(const nn::Graph& graph);

}  // namespace convoke::interop
