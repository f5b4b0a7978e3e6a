#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/nn/freeze.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/split.hpp"
#include "convoke/nn/zoo.hpp"
#include "convoke/nn/zoo_parts.hpp"
#include "convoke/recipe/section_reader.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

// Keys of a layer's table that say where it stands in the graph rather than what it does.
constexpr std::array<std::string_view, 6> kWiring{"activation", "name", "inputs", "trainable", "l1", "l2"};

bool is_wiring(std::string_view key) {
  return std::find(kWiring.begin(), kWiring.end(), key) != kWiring.end();
}

// { layer = "conv2d", filters = 32, kernel = 3, activation = "relu" } with every hyper-parameter of conv2d.
Settings resolved_layer(const Settings& written) {
  if (*written.find("layer") == Value("shared")) return written;  // has no hyper-parameters of its own
  Settings own;
  own.set_where(written.where());
  for (const auto& [key, value] : written.entries()) {
    if (!is_wiring(key)) own.set(key, value);
  }
  const nn::LayerPtr layer = nn::make_layer(own);
  const Settings options = layer->settings();
  Settings resolved{{"layer", Value(layer->type())}};
  resolved.set_where(written.where());
  for (const auto& [key, value] : options.entries()) resolved.set(key, value);
  for (const auto& [key, value] : written.entries()) {
    if (is_wiring(key)) resolved.set(key, value);
  }
  return resolved;
}

// zoo, classes, head, and an input that need not be there.
nn::ZooOptions read_zoo(SectionReader& read, ModelRecipe& model) {
  nn::ZooOptions options;
  model.zoo = read.get("zoo", model.zoo);
  options.classes = read.get_count("classes", options.classes, 1);
  options.head = read.get("head", options.head);
  if (model.zoo.empty()) {
    for (const char* key : {"classes", "head"}) {
      if (read.has(key))
        read.fail(key, fmt::format("\"{}\" belongs to \"zoo\"", key), "the last layer says it");
    }
    return options;
  }
  try {
    options.input = nn::zoo_input(model.zoo);
  } catch (const Error& error) {
    read.fail("zoo", error.what(), error.hint());
  }
  options.input = Shape(read.get("input", options.input.extents()));
  return options;
}

// Those that are written, or those of the published network.
std::vector<Settings> read_layers(SectionReader& read, const ModelRecipe& model,
                                  const nn::ZooOptions& published) {
  const std::vector<Settings> layers = read.tables("layers");
  if (model.zoo.empty() && layers.empty()) {
    read.fail("layers", "a model needs layers, or a zoo model",
              "for example layers = [ { layer = \"flatten\" }, { layer = \"dense\", units = 10 } ], or zoo = "
              "\"resnet18\"");
  }
  if (model.zoo.empty()) return layers;
  if (!layers.empty()) read.fail("zoo", "a model has layers or a zoo model, not both", "remove one of them");
  try {
    return nn::describe_graph(nn::make_zoo_model(model.zoo, published));
  } catch (const Error& error) {
    read.fail("zoo", fmt::format("{}: {}", model.zoo, error.what()), error.hint());
  }
}

// `batch_norm` overrides what every batch norm says of itself; frozen ones have no statistics to take.
void choose_batch_norm(SectionReader& read, std::vector<Settings>& layers) {
  constexpr std::array kGroups{Name{"lane"}, Name{"synchronized"}};
  if (!read.has("batch_norm")) return;
  const std::string_view group = read.get_entry("batch_norm", "", kGroups, "group of batch norms").name;
  bool any = false;
  for (Settings& layer : layers) {
    if (*layer.find("layer") != Value("batch_norm")) continue;
    any = true;
    const Value* frozen = layer.find("frozen");
    if (frozen == nullptr || *frozen != Value(true)) layer.set("synchronized", group == "synchronized");
  }
  if (!any) read.fail("batch_norm", "the model has no batch norm", "remove the key");
}

}  // namespace

nn::Graph graph_of(const ModelRecipe& model) {
  nn::Graph graph = nn::build_graph(nn::input_of(Shape(model.input), model.layers), model.layers);
  nn::freeze(graph, model.freeze);
  return graph;
}

ModelRecipe read_model(const TomlDocument& document) {
  SectionReader read(document, "model");
  ModelRecipe model;
  const nn::ZooOptions published = read_zoo(read, model);
  model.input = model.zoo.empty() ? read.require_list("input") : published.input.extents();
  const bool positive =
      std::all_of(model.input.begin(), model.input.end(), [](std::int64_t n) { return n >= 1; });
  read.check("input", positive && !model.input.empty() && model.input.size() <= 3,
             "[channels, height, width], [length, features], [features] or [tokens], each at least 1");
  std::vector<Settings> layers = read_layers(read, model, published);
  choose_batch_norm(read, layers);
  model.weights = read.get("weights", model.weights);
  model.freeze = read.get("freeze", model.freeze);
  model.cache_features = read.get_count("cache_features", model.cache_features, 0);
  read.finish();
  // First as a graph: its messages name the layer and the shapes that do not fit.
  nn::Graph graph = nn::build_graph(nn::input_of(Shape(model.input), layers), layers);
  try {
    model.freeze = nn::resolve_parts(model.zoo, graph, model.freeze);
    nn::freeze(graph, model.freeze);
  } catch (const Error& error) {
    read.fail("freeze", error.what(), error.hint());
  }
  if (model.cache_features > 0 && nn::frozen_prefix(graph) == 0) {
    read.fail("cache_features",
              fmt::format("nothing is frozen at the beginning of the network: {} is trained",
                          nn::first_not_fixed(graph)),
              "freeze its beginning (model.freeze), or set cache_features to 0");
  }
  for (const Settings& layer : layers) model.layers.push_back(resolved_layer(layer));
  return model;
}

Settings write(const ModelRecipe& model) {
  return {{"input", Value::Array(model.input.begin(), model.input.end())},
          {"layers", Value::Array(model.layers.begin(), model.layers.end())},
          {"weights", model.weights},
          {"freeze", Value::Array(model.freeze.begin(), model.freeze.end())},
          {"cache_features", model.cache_features}};
}

}  // namespace convoke::recipe
