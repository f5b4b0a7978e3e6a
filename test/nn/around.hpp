#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/nn/graph.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/layers.hpp"
#include "nn/plan/fusion.hpp"
#include "support/error_of.hpp"

inline convoke::nn::Symbol as_vector(convoke::nn::Symbol x) {
  return x.graph->node(x.node).shape.rank() == 1 ? x : flatten(x);
}

/// A graph whose body is between a 1 x 1 convolution to `channels` and a dense layer of 3 classes.
template <class Body>
convoke::nn::Graph around(std::int64_t channels, std::int64_t height, std::int64_t width, const Body& body) {
  convoke::nn::Graph graph({2, height, width});
  dense(as_vector(body(conv2d(input(graph), {.filters = channels, .kernel = 1}))), {.units = 3});
  return graph;
}

/// A graph whose body reads its input, before a dense layer of 3 classes.
template <class Body>
convoke::nn::Graph as_first(const convoke::nn::ValueSpec& input, const Body& body) {
  convoke::nn::Graph graph(input);
  dense(as_vector(body(convoke::nn::input(graph))), {.units = 3});
  return graph;
}

/// The same as around() for sequences.
template <class Body>
convoke::nn::Graph along(std::int64_t features, std::int64_t length, const Body& body) {
  convoke::nn::Graph graph({length, 2});
  dense(as_vector(body(conv1d(input(graph), {.filters = features, .kernel = 1}))), {.units = 3});
  return graph;
}

/// Returns the names of the nodes that are fused into others.
inline std::vector<std::string> absorbed(const convoke::nn::Graph& graph, bool post_ops = false) {
  std::vector<std::string> names;
  const std::vector<convoke::nn::Fusion> fusions = fuse(graph, post_ops);
  for (const convoke::nn::Node& node : graph.nodes()) {
    if (fusions[node.index].absorbed) names.push_back(node.name);
  }
  return names;
}

inline convoke::Value::Array list(std::initializer_list<convoke::Value> values) { return values; }

/// "message | hint" of the error that the layers end with, the last of which is in line 7; "" if there is
/// none.
inline std::string refusal(const convoke::Shape& input, std::vector<convoke::Settings> layers) {
  layers.back().set_where("recipe.toml:7");
  return refusal_of([&] { convoke::nn::build_graph(input, layers); });
}

/// The same without a line.
inline std::string refused_layers(const convoke::Shape& input, const std::vector<convoke::Settings>& layers) {
  return refusal_of([&] { convoke::nn::build_graph(input, layers); });
}

/// The message of the error that making one layer throws; "" if there is none.
inline std::string error_of_layer(const convoke::Settings& settings) {
  return error_of([&] { convoke::nn::make_layer(settings); });
}

/// "message | hint" of the error that adding layers to an input throws; "" if there is none.
template <std::invocable<convoke::nn::Symbol> Body>
std::string refusal(const convoke::nn::ValueSpec& input, const Body& body) {
  convoke::nn::Graph graph(input);
  return refusal_of([&] { body(convoke::nn::input(graph)); });
}

/// The message alone.
template <std::invocable<convoke::nn::Symbol> Body>
std::string error_on(const convoke::nn::ValueSpec& input, const Body& body) {
  const std::string both = refusal(input, body);
  return both.substr(0, both.find(" | "));
}
