#include "convoke/nn/layer_table.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/nn/layers/activation.hpp"
#include "convoke/nn/layers/batch_norm.hpp"
#include "convoke/nn/layers/channel_shuffle.hpp"
#include "convoke/nn/layers/concat.hpp"
#include "convoke/nn/layers/conv2d.hpp"
#include "convoke/nn/layers/dense.hpp"
#include "convoke/nn/layers/dropout.hpp"
#include "convoke/nn/layers/merge.hpp"
#include "convoke/nn/layers/pool.hpp"
#include "convoke/nn/layers/reshape.hpp"
#include "convoke/nn/layers/slice.hpp"
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
    Entry{"average", plain<Average>},
    Entry{"average_pool", AveragePool::make},
    Entry{"batch_norm", BatchNorm::make},
    Entry{"channel_shuffle", ChannelShuffle::make},
    Entry{"concat", Concat::make},
    Entry{"conv2d", Conv2d::make},
    Entry{"dense", Dense::make},
    Entry{"dropout", Dropout::make},
    Entry{"flatten", plain<Flatten>},
    Entry{"global_average_pool", plain<GlobalAveragePool>},
    Entry{"identity", plain<Identity>},
    Entry{"max_pool", MaxPool::make},
    Entry{"maximum", plain<Maximum>},
    Entry{"multiply", plain<Multiply>},
    Entry{"permute", Permute::make},
    Entry{"relu", activation<Activation::Function::kRelu>},
    Entry{"reshape", Reshape::make},
    Entry{"sigmoid", activation<Activation::Function::kSigmoid>},
    Entry{"slice", Slice::make},
    Entry{"softmax", plain<Softmax>},
    Entry{"subtract", plain<Subtract>},
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

/// What every layer may have beside its own settings.
struct Wiring {
  std::string layer, name, activation;
  std::vector<std::string> inputs;
  ParameterOptions options;
};

void read_options(SettingsReader& read, ParameterOptions& options) {
  options.trainable = read.get("trainable", options.trainable);
  options.l1 = read.get("l1", options.l1);
  options.l2 = read.get("l2", options.l2);
  read.check("l1", options.l1 >= 0, "at least 0");
  read.check("l2", options.l2 >= 0, "at least 0");
}

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
  read_options(read, wiring.options);
  LayerPtr layer = entry.make(read);
  read.finish();
  return layer;
}

/// { layer = "shared", of = "name" }: the layer of another node once more. Returns that node. `of` may name
/// the result of a layer with an activation; the activation itself is asked for anew.
std::size_t read_shared(const Settings& settings, const Graph& graph, Wiring& wiring) {
  SettingsReader read(settings, "layer \"shared\"");
  wiring.layer = read.require_string("layer");
  const std::string name = read.require_string("of");
  wiring.name = read.get("name", "");
  wiring.inputs = read.get("inputs", std::vector<std::string>{});
  const Node* of = &graph.node(graph.find(name));
  if (of->layer != nullptr && of->inputs.size() == 1 &&
      graph.node(of->inputs[0]).name.starts_with(of->name + "/")) {
    of = &graph.node(of->inputs[0]);
  }
  if (of->layer != nullptr && takes_activation(std::string(of->layer->type())))
    wiring.activation = read.get("activation", "");
  if (!wiring.activation.empty()) find_in(kActivations, wiring.activation, "activation", settings.where());
  read.finish();
  return of->index;
}

bool is_shared(const Settings& settings) {
  const Value* layer = settings.find("layer");
  return layer != nullptr && *layer == Value("shared");
}

}  // namespace

LayerPtr make_layer(const Settings& settings) {
  Wiring wiring;
  return read_layer(settings, wiring);
}

std::vector<std::string> layer_names() { return names_in(kLayers); }

Graph build_graph(const Shape& input, const std::vector<Settings>& layers) {
  Graph graph(input);
  for (const Settings& settings : layers) {
    Wiring wiring;
    try {
      const bool shared = is_shared(settings);
      const std::size_t of = shared ? read_shared(settings, graph, wiring) : 0;
      const LayerPtr layer = shared ? nullptr : read_layer(settings, wiring);
      std::vector<std::size_t> from;
      for (const std::string& name : wiring.inputs) from.push_back(graph.find(name));
      if (from.empty()) from.push_back(graph.nodes().size() - 1);
      const bool activated = !wiring.activation.empty() && wiring.activation != "linear";
      // With an activation, the name is that of the result, so that `inputs` means what it says.
      const std::string own =
          activated && !wiring.name.empty() ? wiring.name + "/" + wiring.layer : wiring.name;
      const std::size_t node = shared ? graph.share(of, from, own) : graph.add(layer, from, own);
      if (wiring.options != ParameterOptions{}) graph.set_options(node, wiring.options);
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
