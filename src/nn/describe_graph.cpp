#include "convoke/nn/layer_table.hpp"

namespace convoke::nn {

std::vector<Settings> describe_graph(const Graph& graph) {
  std::vector<Settings> layers;
  for (const Node& node : graph.nodes()) {
    if (node.layer == nullptr) continue;
    const bool shared = node.parameters_of != node.index;
    Settings settings{{"layer", shared ? "shared" : std::string(node.layer->type())}, {"name", node.name}};
    Value::Array inputs;
    for (const std::size_t input : node.inputs) inputs.emplace_back(graph.node(input).name);
    settings.set("inputs", std::move(inputs));
    if (shared) {
      settings.set("of", graph.owner(node).name);
      layers.push_back(std::move(settings));
      continue;
    }
    const Settings own = node.layer->settings();  // named: its entries must outlive the loop
    for (const auto& [key, value] : own.entries()) settings.set(key, value);
    if (!node.options.trainable) settings.set("trainable", false);
    if (node.options.l1 != 0) settings.set("l1", node.options.l1);
    if (node.options.l2 != 0) settings.set("l2", node.options.l2);
    layers.push_back(std::move(settings));
  }
  return layers;
}

}  // namespace convoke::nn
