#include "convoke/nn/split.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "convoke/nn/layers/structure.hpp"
#include "nn/layers/feature_input.hpp"

namespace convoke::nn {
namespace {

constexpr std::array<std::string_view, 3> kRandomLayers{"dropout", "gaussian_noise", "stochastic_depth"};

bool draws_random_numbers(const Layer& layer) {
  if (std::find(kRandomLayers.begin(), kRandomLayers.end(), layer.type()) != kRandomLayers.end()) return true;
  const Settings settings = layer.settings();
  return std::any_of(settings.entries().begin(), settings.entries().end(), [](const auto& entry) {
    return entry.first.ends_with("dropout") && entry.second != Value(0.0);  // of recurrent layers
  });
}

bool stays(const ParameterSpec& spec) { return spec.frozen || (spec.statistic() && spec.momentum == 1); }

/// Whether its output depends on its inputs alone, in all steps.
bool fixed(const Graph& graph, const Node& node) {
  if (node.layer == nullptr) return true;
  const std::vector<ParameterSpec>& parameters = graph.owner(node).parameters;
  return !draws_random_numbers(*node.layer) && std::all_of(parameters.begin(), parameters.end(), stays);
}

/// Whether the nodes behind `last` see nothing before it.
bool separates(const Graph& graph, std::size_t last) {
  return std::all_of(graph.nodes().begin() + static_cast<std::ptrdiff_t>(last) + 1, graph.nodes().end(),
                     [&](const Node& node) {
                       return node.parameters_of > last &&
                              std::all_of(node.inputs.begin(), node.inputs.end(),
                                          [&](std::size_t input) { return input >= last; });
                     });
}

/// Adds `node` of another graph to `graph`, where its inputs have the same numbers.
void copy(const Node& node, Graph& graph) {
  if (node.parameters_of != node.index) {
    graph.share(node.parameters_of, node.inputs, node.name);
    return;
  }
  graph.add(node.layer, node.inputs, node.name);
  if (!node.parameters.empty()) graph.set_options(node.index, node.options);
}

std::size_t fixed_nodes(const Graph& graph) {
  const auto& nodes = graph.nodes();
  const auto end =
      std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return !fixed(graph, node); });
  return static_cast<std::size_t>(end - nodes.begin());
}

}  // namespace

std::size_t frozen_prefix(const Graph& graph) {
  std::size_t last = std::min(fixed_nodes(graph), graph.nodes().size() - 1) - 1;  // something is left
  while (!separates(graph, last)) --last;
  const bool learned =
      std::any_of(graph.nodes().begin(), graph.nodes().begin() + static_cast<std::ptrdiff_t>(last) + 1,
                  [](const Node& node) { return !node.parameters.empty(); });
  return learned ? last : 0;
}

std::string first_not_fixed(const Graph& graph) {
  const std::size_t first = fixed_nodes(graph);
  return first == graph.nodes().size() ? std::string() : graph.node(first).name;
}

Graph prefix_of(const Graph& graph, std::size_t last) {
  Graph prefix(graph.input_shape());
  for (std::size_t i = 1; i <= last; ++i) copy(graph.node(i), prefix);
  return prefix;
}

Graph suffix_of(const Graph& graph, std::size_t last) {
  assert(separates(graph, last));
  Graph suffix(graph.node(last).shape);
  suffix.add(std::make_shared<FeatureInput>(std::make_shared<const Graph>(graph), last), {0},
             graph.node(1).name);
  for (std::size_t i = 2; i <= last; ++i)
    suffix.add(std::make_shared<Identity>(), {i - 1}, graph.node(i).name);
  for (std::size_t i = last + 1; i < graph.nodes().size(); ++i) copy(graph.node(i), suffix);
  return suffix;
}

}  // namespace convoke::nn
