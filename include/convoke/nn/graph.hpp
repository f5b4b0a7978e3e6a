#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/nn/layer.hpp"

namespace convoke::nn {

/// One node of a graph: a layer applied to the outputs of earlier nodes.
struct Node {
  std::string name;                 ///< unique in the graph: "conv2d_1"
  LayerPtr layer;                   ///< null for the input node
  std::vector<std::size_t> inputs;  ///< indices of earlier nodes
  ValueSpec shape;                  ///< of the output of one sample
  std::vector<ParameterSpec> parameters;
  std::size_t index = 0;  ///< position in the graph
};

/// A directed acyclic graph of layers, a value. Node 0 is the input; nodes stand in an order in which they
/// can be computed; the last one is the output. Shapes are checked when a node is added.
class Graph {
 public:
  /// `input`: one sample: (C, H, W), (L, F) or (F), or tokens (L).
  explicit Graph(ValueSpec input);

  /// Adds a node and returns its index. An empty `name` becomes "<type>_<n>". Throws Error naming the node
  /// and its input shapes if the layer does not fit, or if the name is taken or has a slash.
  std::size_t add(LayerPtr layer, std::vector<std::size_t> inputs, std::string name = {});

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(std::size_t index) const { return nodes_[index]; }
  const ValueSpec& input_shape() const { return nodes_.front().shape; }
  const Shape& output_shape() const { return nodes_.back().shape; }
  /// Index of the node called `name`. Throws Error with the nearest name.
  std::size_t find(const std::string& name) const;

  /// Number of parameters: all, and those that are optimised.
  std::int64_t parameter_count() const;
  std::int64_t trainable_count() const;

  /// One line per node: name, layer, output shape, parameters; and the totals. As Keras' summary().
  std::string summary() const;

 private:
  std::vector<Node> nodes_;
};

/// A value in a graph under construction: `x = relu(conv2d(x, {.filters = 32, .kernel = 3}))`.
struct Symbol {
  Graph* graph;
  std::size_t node;
};

/// The input of `graph` as a symbol.
inline Symbol input(Graph& graph) { return {&graph, 0}; }

}  // namespace convoke::nn
