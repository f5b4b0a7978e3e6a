#pragma once
#include <cstdint>

#include "convoke/nn/graph.hpp"
#include "convoke/nn/layers.hpp"

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
