#include "convoke/nn/layer_table.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/nn/layers/activation.hpp"
#include "convoke/nn/layers/batch_norm.hpp"
#include "convoke/nn/layers/conv2d.hpp"
#include "convoke/nn/layers/dense.hpp"
#include "convoke/nn/layers/dropout.hpp"
#include "convoke/nn/layers/embedding.hpp"
#include "convoke/nn/layers/pool.hpp"
#include "convoke/nn/layers/recurrent.hpp"
#include "convoke/nn/layers/softmax.hpp"
#include "convoke/nn/layers/structure.hpp"

namespace convoke::nn {
namespace {

struct Entry {
  std::string_view name;
  LayerPtr (*make)(SettingsReader& read);
};

/// A layer without hyper-parameters.
template <class L>
LayerPtr plain(SettingsReader&) {
  return std::make_shared<L>();
}
template <Activation::Function kFunction>
LayerPtr activation(SettingsReader&) {
  return std::make_shared<Activation>(kFunction);
}

constexpr std::array kLayers{
    Entry{"add", plain<Add>},
    Entry{"average_pool", AveragePool::make},
    Entry{"batch_norm", BatchNorm::make},
    Entry{"conv2d", Conv2d::make},
    Entry{"dense", Dense::make},
    Entry{"dropout", Dropout::make},
    Entry{"embedding", Embedding::make},
    Entry{"flatten", plain<Flatten>},
    Entry{"global_average_pool", plain<GlobalAveragePool>},
    Entry{"gru", Gru::make},
    Entry{"lstm", Lstm::make},
    Entry{"max_pool", MaxPool::make},
    Entry{"relu", activation<Activation::Function::kRelu>},
    Entry{"sigmoid", activation<Activation::Function::kSigmoid>},
    Entry{"softmax", plain<Softmax>},
    Entry{"tanh", activation<Activation::Function::kTanh>},
};

/// What `activation = "..."` may name: layers of one input that take no settings; "linear" is none.
struct ActivationName {
  std::string_view name;
};
constexpr std::array kActivations{ActivationName{"linear"}, ActivationName{"relu"}, ActivationName{"sigmoid"},
                                  ActivationName{"softmax"}, ActivationName{"tanh"}};

bool takes_activation(const std::string& layer) {
  return layer == "conv2d" || layer == "dense" || layer == "add";
}

/// Layers that may have several inputs.
bool joins(std::string_view layer) { return layer == "add" || layer == "gru" || layer == "lstm"; }

/// Reads what every layer may have beside its own settings.
struct Wiring {
  std::string layer, name, activation;
  std::vector<std::string> inputs;
};

LayerPtr read_layer(const Settings& settings, Wiring& wiring) {
  SettingsReader first(settings, "layer");
  wiring.layer = first.require_string("layer");
  const Entry& entry = find_in(kLayers, wiring.layer, "layer", settings.where());
  SettingsReader read(settings, fmt::format("layer \"{}\"", wiring.layer));
  read.has("layer");
  wiring.name = read.get("name", "");
  wiring.inputs = read.get("inputs", std::vector<std::string>{});
  if (takes_activation(wiring.layer)) wiring.activation = read.get("activation", "");
  if (!wiring.activation.empty()) find_in(kActivations, wiring.activation, "activation", settings.where());
  LayerPtr layer = entry.make(read);
  read.finish();
  return layer;
}

}  // namespace

LayerPtr make_layer(const Settings& settings) {
  Wiring wiring;
  return read_layer(settings, wiring);
}

std::vector<std::string> layer_names() { return names_in(kLayers); }

Graph build_graph(const ValueSpec& input, const std::vector<Settings>& layers) {
  Graph graph(input);
  for (const Settings& settings : layers) {
    Wiring wiring;
    const LayerPtr layer = read_layer(settings, wiring);
    try {
      std::vector<std::size_t> from;
      for (const std::string& name : wiring.inputs) from.push_back(graph.find(name));
      if (from.empty()) from.push_back(graph.nodes().size() - 1);
      if (from.size() > 1 && !joins(layer->type()))
        throw Error(fmt::format("a {} layer has one input", layer->type()));
      const bool activated = !wiring.activation.empty() && wiring.activation != "linear";
      // With an activation, the name is that of the result, so that `inputs` means what it says.
      const std::string own =
          activated && !wiring.name.empty() ? wiring.name + "/" + wiring.layer : wiring.name;
      const std::size_t node = graph.add(layer, from, own);
      if (activated) {
        Settings short_form{{"layer", wiring.activation}};
        short_form.set_where(settings.where());
        graph.add(make_layer(short_form), {node}, wiring.name);
      }
    } catch (const Error& error) {
      const std::string what = error.what();
      const bool placed = settings.where().empty() || what.starts_with(settings.where());
      throw Error(placed ? what : settings.where() + ": " + what, error.hint());
    }
  }
  return graph;
}

std::vector<Settings> describe_graph(const Graph& graph) {
  std::vector<Settings> layers;
  for (const Node& node : graph.nodes()) {
    if (node.layer == nullptr) continue;
    Settings settings{{"layer", std::string(node.layer->type())}, {"name", node.name}};
    Value::Array inputs;
    for (const std::size_t input : node.inputs) inputs.emplace_back(graph.node(input).name);
    settings.set("inputs", std::move(inputs));
    const Settings own = node.layer->settings();  // named: its entries must outlive the loop
    for (const auto& [key, value] : own.entries()) settings.set(key, value);
    layers.push_back(std::move(settings));
  }
  return layers;
}

}  // namespace convoke::nn
