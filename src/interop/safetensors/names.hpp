#pragma once
#include <optional>
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
  /// Those of a transposed convolution's weight, which swap_channels() brings into our order and back; 0 for
  /// all other parameters.
  std::int64_t groups = 0;
};

/// A way to name parameters.
struct Naming {
  std::string scheme;               ///< "torchvision", "timm", "node names"
  std::vector<StateEntry> entries;  ///< for each of engine::canonical_parameters(graph)
};

/// Returns the ways in which a file may name the parameters of `graph`, the usual one first. Networks of
/// torchvision and timm are recognized by their nodes.
std::vector<Naming> state_dict_names(const nn::Graph& graph);

/// How a file names the parameters of a graph: by a naming, with a prefix in front of each name.
struct FoundNames {
  const Naming* naming = nullptr;
  std::string prefix;  ///< "module.", "backbone."; often empty
};

/// Finds the naming and the prefix by which most parameters are among the file's `names`. Weights that were
/// saved from a wrapper or a larger model have its name in front. `prefix`: the one to use, if it is given,
/// with or without its last dot. Throws Error naming `file` if several prefixes fit equally well, because the
/// file has several copies, or if the given one does not occur.
FoundNames find_names(const std::vector<Naming>& namings, const std::vector<std::string>& names,
                      std::optional<std::string> prefix, const std::string& file);

}  // namespace convoke::interop
