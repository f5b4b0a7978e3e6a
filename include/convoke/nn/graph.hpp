#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "convoke/nn/layer.hpp"

namespace convoke::nn {

/// How training treats the parameters of a node.
struct ParameterOptions {
  bool trainable = true;  ///< false: frozen; a batch norm then normalizes by its running statistics, as Keras
  /// penalty on the node's weights (not biases): loss + l1 sum |w| + l2 sum w^2; >= 0
  double l1 = 0, l2 = 0;
  double rate_factor = 1;  ///< the step's learning rate is multiplied by it, > 0
  std::int64_t frozen_steps =
      0;  ///< training steps in which the node was frozen: the optimizer counts from there

  friend bool operator==(const ParameterOptions&, const ParameterOptions&) = default;
};

/// One node of a graph: a layer applied to the outputs of earlier nodes.
struct Node {
  std::string name;                 ///< unique in the graph: "conv2d_1"
  LayerPtr layer;                   ///< null for the input node
  std::vector<std::size_t> inputs;  ///< indices of earlier nodes
  ValueSpec shape;                  ///< shape of the output of one sample
  std::vector<ParameterSpec> parameters;
  std::size_t index = 0;  ///< position in the graph
  std::size_t parameters_of =
      0;                     ///< the node that owns its parameters: itself, or with share() an earlier node
  ParameterOptions options;  ///< options of the parameters that the node owns
};

/// A directed acyclic graph of layers, a value. Node 0 is the input, the last node is the output, and each
/// node comes after its inputs. Shapes are checked when a node is added.
class Graph {
 public:
  /// `input` is one sample: (C, H, W), (L, F) or (F), or tokens (L).
  explicit Graph(ValueSpec input);

  /// Adds a node and returns its index. An empty `name` becomes "<type>_<n>". Throws Error, naming the node
  /// and its input shapes, if the layer does not fit, the name exists, or the name contains a slash.
  std::size_t add(LayerPtr layer, std::vector<std::size_t> inputs, std::string name = {});

  /// Adds a node that applies the layer of node `of` again with the same parameters. They are stored once,
  /// and their gradients are summed over all uses; running statistics follow the mean over all uses. Throws
  /// Error if the inputs need parameters of other shapes.
  std::size_t share(std::size_t of, std::vector<std::size_t> inputs, std::string name = {});

  /// Sets how training treats the parameters of `node`. Throws Error if another node owns them.
  void set_options(std::size_t node, const ParameterOptions& options);

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(std::size_t index) const { return nodes_[index]; }
  /// Returns the node that owns the parameters of `node`: itself, unless they are shared.
  const Node& owner(const Node& node) const { return nodes_[node.parameters_of]; }
  /// True if another node uses the same parameters.
  bool shares(const Node& node) const;
  const ValueSpec& input_shape() const { return nodes_.front().shape; }
  const Shape& output_shape() const { return nodes_.back().shape; }
  /// Returns the index of the node called `name`. Throws Error with the nearest name.
  std::size_t find(const std::string& name) const;
  /// True if a node has this name.
  bool has(const std::string& name) const { return by_name_.contains(name); }

  /// Return the number of all parameters, and of those that are trained.
  std::int64_t parameter_count() const;
  std::int64_t trainable_count() const;

  /// Returns one line per node (name, layer, output shape, parameters) and the totals, as Keras' summary().
  std::string summary() const;

 private:
  /// Makes a node with name and shape that is not yet in the graph.
  Node make_node(const LayerPtr& layer, std::vector<std::size_t> inputs, std::string name) const;
  std::vector<ValueSpec> shapes_of(const std::vector<std::size_t>& inputs) const;

  /// Adds a finished node. Returns its index.
  std::size_t append(Node node);

  std::vector<Node> nodes_;
  std::unordered_map<std::string, std::size_t> by_name_;       ///< indices of the nodes
  std::unordered_map<std::string_view, std::size_t> of_type_;  ///< how many nodes have a layer of this type
};

/// True if training stops for moments that are summed over the plans of a step (Network::forward_stops).
bool synchronizes(const Graph& graph);

/// A value in a graph under construction: `x = relu(conv2d(x, {.filters = 32, .kernel = 3}))`.
struct Symbol {
  Graph* graph;
  std::size_t node;
};

/// Applies `layer` to `x`, as the node `name`; Graph::add() names it if that is empty.
template <class Kind>
Symbol apply(Kind layer, Symbol x, std::string name = {}) {
  return {x.graph, x.graph->add(std::make_shared<Kind>(std::move(layer)), {x.node}, std::move(name))};
}

/// Applies `layer` to several inputs in the same way.
template <class Kind>
Symbol merge(Kind layer, const std::vector<Symbol>& inputs, std::string name = {}) {
  std::vector<std::size_t> nodes;
  for (const Symbol& input : inputs) nodes.push_back(input.node);
  Graph* const graph = inputs.front().graph;
  return {graph, graph->add(std::make_shared<Kind>(std::move(layer)), std::move(nodes), std::move(name))};
}

/// Applies the layer of `of` to `x` too, with the same parameters.
inline Symbol share(Symbol of, Symbol x) { return {x.graph, x.graph->share(of.node, {x.node})}; }

/// Returns the input of `graph` as a symbol.
inline Symbol input(Graph& graph) { return {&graph, 0}; }

}  // namespace convoke::nn
