#include "convoke/nn/graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
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

void check_inputs(const Layer& layer, std::span<const ValueSpec> shapes) {
  using Inputs = LayerTraits::Inputs;
  const LayerTraits traits = layer.traits();
  for (const ValueSpec& shape : shapes) {
    if (shape.type != ValueType::kToken || traits.takes_tokens) continue;
    throw Error(fmt::format("needs numbers, but its input is {}", shape.describe()),
                "put an embedding layer before it");
  }
  if (traits.inputs == Inputs::kSeveral && shapes.size() < 2) {
    throw Error("needs two or more inputs",
                fmt::format("name the inputs: {{ layer = \"{}\", inputs = [\"a\", \"b\"] }}", layer.type()));
  }
  if (traits.inputs != Inputs::kOne || shapes.size() == 1) return;
  std::vector<std::string> given;
  for (const ValueSpec& shape : shapes) given.push_back(shape.describe());
  throw Error(fmt::format("needs one input, but has {}: {}", shapes.size(), join(given)),
              "join them before it with a concat or add layer");
}

/// Returns the names of the nodes; if there are many, the last ones.
std::string last_names(const std::vector<std::string>& names) {
  constexpr std::ptrdiff_t kShown = 12;
  const auto count = static_cast<std::ptrdiff_t>(names.size());
  if (count <= kShown) return "nodes so far: " + join(names);
  return fmt::format("the last of {} nodes so far: {}", count,
                     join(std::vector<std::string>(names.end() - kShown, names.end())));
}

}  // namespace

Graph::Graph(ValueSpec input) {
  const bool tokens = input.type == ValueType::kToken;
  if (input.rank() < 1 || input.rank() > (tokens ? 1 : 3)) {
    throw Error(
        tokens ? fmt::format("a network's input of tokens must be (L), not {}", input.to_string())
               : fmt::format("a network's input must be (C, H, W), (L, F) or (F), not {}", input.to_string()),
        tokens ? "an embedding reads texts: model.input is their length, such as [300]" : "");
  }
  const auto& extents = input.extents();
  if (std::any_of(extents.begin(), extents.end(), [](std::int64_t extent) { return extent < 1; })) {
    throw Error(
        fmt::format("the extents of a network's input must be at least 1, not {}", input.to_string()));
  }
  Node node;
  node.name = "input";
  node.shape = std::move(input);
  append(std::move(node));
}

std::vector<ValueSpec> Graph::shapes_of(const std::vector<std::size_t>& inputs) const {
  std::vector<ValueSpec> shapes;
  for (const std::size_t input : inputs) {
    ensure(input < nodes_.size(), "the input of a node is in the graph");
    shapes.push_back(nodes_[input].shape);
  }
  return shapes;
}

Node Graph::make_node(const LayerPtr& layer, std::vector<std::size_t> inputs, std::string name) const {
  ensure(!inputs.empty(), "a node has an input");
  if (name.empty()) {
    const auto same = of_type_.find(layer->type());
    name = fmt::format("{}_{}", layer->type(), (same == of_type_.end() ? 0 : same->second) + 1);
  }
  if (name.find('/') != std::string::npos) {
    throw Error(fmt::format("a node cannot be called \"{}\": files use slashes for groups", name),
                "use a dot");
  }
  if (has(name)) {
    throw Error(fmt::format("two nodes are called \"{}\"", name), "give one of them another name");
  }
  const std::vector<ValueSpec> shapes = shapes_of(inputs);
  Node node;
  try {
    check_inputs(*layer, shapes);
    node.shape = layer->output_shape(shapes);
    node.parameters = layer->parameters(shapes);
    static_cast<void>(node.shape.elements());  // throws if there are too many
    for (const ParameterSpec& spec : node.parameters) static_cast<void>(spec.shape.elements());
  } catch (const Error& error) {
    throw Error(fmt::format("{} ({}): {}", name, layer->type(), error.what()), error.hint());
  }
  node.name = std::move(name);
  node.layer = layer;
  node.inputs = std::move(inputs);
  node.index = node.parameters_of = nodes_.size();
  return node;
}

std::size_t Graph::append(Node node) {
  by_name_.emplace(node.name, nodes_.size());
  if (node.layer != nullptr) ++of_type_[node.layer->type()];
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

std::size_t Graph::add(LayerPtr layer, std::vector<std::size_t> inputs, std::string name) {
  return append(make_node(layer, std::move(inputs), std::move(name)));
}

std::size_t Graph::share(std::size_t of, std::vector<std::size_t> inputs, std::string name) {
  ensure(of < nodes_.size(), "the node that is shared is in the graph");
  if (nodes_[of].layer == nullptr) {
    throw Error(fmt::format("\"{}\" is not a layer and cannot be shared", nodes_[of].name));
  }
  const Node& owner = this->owner(nodes_[of]);
  Node node = make_node(owner.layer, std::move(inputs), std::move(name));
  const auto refuse = [&](const std::string& message, const std::string& hint) {
    throw Error(fmt::format("{} ({}): {}", node.name, node.layer->type(), message), hint);
  };
  const std::vector<ParameterSpec> needed = std::exchange(node.parameters, {});
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const ParameterSpec& there = owner.parameters[i];
    if (there.shape == needed[i].shape) continue;
    refuse(fmt::format("its input {} needs a {} of shape {}, but that of {} has {}",
                       nodes_[node.inputs[0]].shape.describe(), needed[i].name, needed[i].shape.to_string(),
                       owner.name, there.shape.to_string()),
           "share a layer only between inputs with the same number of channels or features");
  }
  node.parameters_of = owner.index;
  return append(std::move(node));
}

void Graph::set_options(std::size_t index, const ParameterOptions& options) {
  Node& node = nodes_.at(index);
  if (node.parameters_of != index) {
    throw Error(fmt::format("{} owns no parameters", node.name),
                fmt::format("set this for {}, which owns its parameters", owner(node).name));
  }
  node.options = options;
  node.parameters = node.layer->parameters(shapes_of(node.inputs));
  for (ParameterSpec& spec : node.parameters) {
    spec.frozen = !options.trainable;
    spec.trainable = spec.trainable && options.trainable;
    spec.rate_factor = options.rate_factor;
    spec.frozen_steps = options.frozen_steps;
    if (!spec.name.ends_with("weight")) continue;
    spec.l1 = options.l1;
    spec.l2 = options.l2;
  }
}

bool Graph::shares(const Node& node) const {
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const Node& other) {
    return other.index != node.index && other.parameters_of == node.parameters_of;
  });
}

std::size_t Graph::find(const std::string& name) const {
  if (const auto it = by_name_.find(name); it != by_name_.end()) return it->second;
  const std::vector<std::string> names = names_in(nodes_);
  throw Error(fmt::format("no node is called \"{}\"{}", name, did_you_mean(name, names)), last_names(names));
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

bool synchronizes(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const Node& node) {
    return node.layer != nullptr && node.layer->traits().synchronizes && graph.owner(node).options.trainable;
  });
}

std::string Graph::summary() const {
  std::string text =
      fmt::format("{:<24} {:<20} {:<22} {:>12}  {}\n", "node", "layer", "output", "parameters", "from");
  for (const Node& node : nodes_) {
    std::vector<std::string> from;
    for (const std::size_t input : node.inputs) from.push_back(nodes_[input].name);
    const bool shared = node.parameters_of != node.index;
    text += fmt::format("{:<24} {:<20} {:<22} {:>12}  {}{}\n", node.name,
                        node.layer == nullptr ? "" : node.layer->type(), node.shape.describe(),
                        format_count(count(node, false)), join(from),
                        shared ? " (parameters of " + owner(node).name + ")" : "");
  }
  const auto total = [](const char* what, std::int64_t parameters) {
    return fmt::format("{} parameters: {} ({})\n", what, format_count(parameters),
                       format_bytes(static_cast<std::uint64_t>(parameters) * sizeof(float)));
  };
  return text + total("total", parameter_count()) + total("trainable", trainable_count()) +
         total("non-trainable", parameter_count() - trainable_count());
}

}  // namespace convoke::nn
