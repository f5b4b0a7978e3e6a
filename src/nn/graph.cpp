#include "convoke/nn/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::nn {
namespace {

std::int64_t count(const Node& node, bool trainable_only) {
  std::int64_t total = 0;
  for (const ParameterSpec& spec : node.parameters) {
    if (spec.trainable || !trainable_only) total += spec.shape.elements();
  }
  return total;
}

}  // namespace

std::vector<ParameterSpec> Layer::parameters(std::span<const ValueSpec>) const { return {}; }

Graph::Graph(ValueSpec input) {
  const bool tokens = input.type == ValueType::kToken;
  if (input.rank() < 1 || input.rank() > (tokens ? 1 : 3)) {
    throw Error(
        tokens ? fmt::format("a network's input of tokens is (L), not {}", input.to_string())
               : fmt::format("a network's input is (C, H, W), (L, F) or (F), not {}", input.to_string()));
  }
  const auto& extents = input.extents();
  if (std::any_of(extents.begin(), extents.end(), [](std::int64_t extent) { return extent < 1; })) {
    throw Error(fmt::format("a network's input has extents of at least 1, not {}", input.to_string()));
  }
  Node node;
  node.name = "input";
  node.shape = std::move(input);
  nodes_.push_back(std::move(node));
}

std::size_t Graph::add(LayerPtr layer, std::vector<std::size_t> inputs, std::string name) {
  assert(!inputs.empty());
  if (name.empty()) {
    const auto same = std::count_if(nodes_.begin(), nodes_.end(), [&](const Node& node) {
      return node.layer != nullptr && node.layer->type() == layer->type();
    });
    name = fmt::format("{}_{}", layer->type(), same + 1);
  }
  if (name.find('/') != std::string::npos) {
    throw Error(fmt::format("a node cannot be called \"{}\": files take a slash for a group", name),
                "use a dot");
  }
  if (std::any_of(nodes_.begin(), nodes_.end(), [&](const Node& node) { return node.name == name; })) {
    throw Error(fmt::format("two nodes are called \"{}\"", name), "give one of them another name");
  }
  std::vector<ValueSpec> shapes;
  for (const std::size_t input : inputs) {
    assert(input < nodes_.size());
    shapes.push_back(nodes_[input].shape);
  }
  Node node;
  try {
    for (const ValueSpec& shape : shapes) {
      if (shape.type != ValueType::kToken || layer->takes_tokens()) continue;
      throw Error(fmt::format("needs numbers, but its input is {}", shape.describe()),
                  "put an embedding layer before it");
    }
    node.shape = layer->output_shape(shapes);
    node.parameters = layer->parameters(shapes);
  } catch (const Error& error) {
    throw Error(fmt::format("{} ({}): {}", name, layer->type(), error.what()), error.hint());
  }
  node.name = std::move(name);
  node.layer = std::move(layer);
  node.inputs = std::move(inputs);
  node.index = nodes_.size();
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

std::size_t Graph::find(const std::string& name) const {
  const auto it =
      std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& node) { return node.name == name; });
  if (it != nodes_.end()) return it->index;
  std::vector<std::string> names;
  for (const Node& node : nodes_) names.push_back(node.name);
  throw Error(fmt::format("no node is called \"{}\"{}", name, did_you_mean(name, names)),
              "nodes so far: " + join(names));
}

std::int64_t Graph::parameter_count() const {
  std::int64_t total = 0;
  for (const Node& node : nodes_) total += count(node, false);
  return total;
}

std::int64_t Graph::trainable_count() const {
  std::int64_t total = 0;
  for (const Node& node : nodes_) total += count(node, true);
  return total;
}

std::string Graph::summary() const {
  std::string text =
      fmt::format("{:<24} {:<20} {:<22} {:>12}  {}\n", "node", "layer", "output", "parameters", "from");
  for (const Node& node : nodes_) {
    std::vector<std::string> from;
    for (const std::size_t input : node.inputs) from.push_back(nodes_[input].name);
    text += fmt::format("{:<24} {:<20} {:<22} {:>12}  {}\n", node.name,
                        node.layer == nullptr ? "" : node.layer->type(), node.shape.describe(),
                        format_count(count(node, false)), join(from));
  }
  return text + fmt::format("parameters: {}, trainable: {}\n", format_count(parameter_count()),
                            format_count(trainable_count()));
}

}  // namespace convoke::nn
