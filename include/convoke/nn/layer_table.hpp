#pragma once
#include "convoke/core/settings.hpp"
#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// Makes the layer that `settings` describe: { layer = "conv2d", filters = 32, kernel = 3 }. Throws Error for
/// an unknown layer (listing the known ones), an unknown key or a wrong type.
LayerPtr make_layer(const Settings& settings);

/// A layer as the guide shows it.
struct LayerHelp {
  std::string name;
  std::string family;  ///< "convolution", "pooling", ...
  std::string help;    ///< a phrase; `code` and "→" occur in it
  bool joins = false;  ///< it needs two or more `inputs`
  std::vector<LayerKey> keys;
};

/// All layers in alphabetical order, and the keys that every layer takes. docs/layers.md follows from them.
std::vector<LayerHelp> layer_guide();
std::vector<LayerKey> common_layer_keys();

/// Builds a graph from a recipe's `layers = [...]`: a chain by default; `name` names a node and `inputs`
/// (names) wires it otherwise. A layer with weights, or `add`, with `activation = "relu"` is followed by that
/// layer as a node of its own. Any layer takes `trainable` (false: its parameters are frozen), `l1` and `l2`
/// (ParameterOptions). { layer = "shared", of = "name" } applies the layer of that node once more, with the
/// same parameters (Graph::share). Throws Error that names the layer, the shapes and where it was written.
Graph build_graph(const ValueSpec& input, const std::vector<Settings>& layers);

/// The input of such a list: tokens if there is an embedding, which reads nothing else, else numbers.
ValueSpec input_of(const Shape& input, const std::vector<Settings>& layers);

/// The inverse of build_graph: one table per node with layer, name, inputs and hyper-parameters.
std::vector<Settings> describe_graph(const Graph& graph);

}  // namespace convoke::nn
