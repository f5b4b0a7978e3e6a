#pragma once
#include <concepts>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/nn/graph.hpp"
#include "convoke/nn/layer_table.hpp"
#include "support/error_of.hpp"

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
