#pragma once
#include <string>

#include "convoke/core/keys.hpp"
#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// Makes the layer that `settings` describe: { layer = "conv2d", filters = 32, kernel = 3 }. Throws Error for
/// an unknown layer (listing the known ones), an unknown key or a wrong type.
LayerPtr make_layer(const Settings& settings);

/// A layer in the guide.
struct LayerHelp {
  std::string name;
  std::string family;  ///< "convolution", "pooling", ...
  std::string help;    ///< a phrase; may contain `code` and "→"
  bool joins = false;  ///< the layer needs two or more `inputs`
  std::vector<KeyDescription> keys;
};

/// Returns all layers in alphabetical order, and the keys that every layer accepts. docs/layers.md is made
/// from them.
std::vector<LayerHelp> layer_guide();
std::vector<KeyDescription> common_layer_keys();

/// Builds a graph from a recipe's `layers = [...]`. The layers form a chain unless a layer has `inputs`
/// (names of nodes); `name` names a node. If a layer with weights, or `add`, has `activation = "relu"`, that
/// layer follows as a separate node. Every layer accepts `trainable` (false: its parameters are frozen), `l1`
/// and `l2` (ParameterOptions). { layer = "shared", of = "name" } applies the layer of that node again with
/// the same parameters (Graph::share). Throws Error that names the layer, the shapes and the position in the
/// recipe.
Graph build_graph(const ValueSpec& input, const std::vector<Settings>& layers);

/// Returns the input of such a list: tokens if the list has an embedding, which reads only tokens; otherwise
/// numbers.
ValueSpec input_of(const Shape& input, const std::vector<Settings>& layers);

/// Describes a graph, the inverse of build_graph: one table per node with layer, name, inputs and
/// hyper-parameters.
std::vector<Settings> describe_graph(const Graph& graph);

/// Returns all layers by family, one line each, as text for a terminal.
std::string list_layers();

/// Returns a layer and its keys with types, defaults and meaning, as text for a terminal. Throws Error with
/// the nearest name if there is no such layer.
std::string describe_layer(const std::string& name);

/// Returns all layers and keys as the Markdown tables of docs/layers.md.
std::string layer_reference();

}  // namespace convoke::nn
