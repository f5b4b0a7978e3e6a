#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/interop/model_io.hpp"
#include "convoke/nn/freeze.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/split.hpp"
#include "convoke/nn/zoo.hpp"
#include "convoke/recipe/library.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

using ModelKey = Key<ModelRecipe>;

void read_input(SettingsReader& read, const KeyFacts& key, ModelRecipe& model) {
  if (!read.has(key.name)) return;
  model.input = read.get(key.name, model.input);
  const bool positive =
      std::all_of(model.input.begin(), model.input.end(), [](std::int64_t n) { return n >= 1; });
  check_key(read, key, positive && !model.input.empty() && model.input.size() <= 3);
}

std::optional<Value> write_input(const KeyFacts& key, const ModelRecipe& model) {
  return to_value(key, model.input);
}

void read_tables_of_layers(SettingsReader& read, const KeyFacts& key, ModelRecipe& model) {
  model.layers = read.tables(key.name);
}

std::optional<Value> write_tables_of_layers(const KeyFacts&, const ModelRecipe& model) {
  return Value::Array(model.layers.begin(), model.layers.end());
}

// A shorthand key has no `write`: the layers that it stands for are written.
constexpr ModelKey shorthand(ModelKey key) {
  key.write = nullptr;
  return key;
}

constexpr std::array kModelKeys{
    ModelKey{
        {.name = "input",
         .expected = "[channels, height, width], [length, features], [features] or [tokens], each at least 1",
         .fallback = "with zoo or file: the input of the network",
         .help = "the shape of a sample, which must match the dataset; tokens need an embedding",
         .type = "list of whole numbers"},
        read_input,
        write_input},
    ModelKey{{.name = "layers",
              .fallback = "with zoo or file: the layers of the network",
              .help = "one table for each layer, e.g. `{ layer = \"dense\", units = 10 }`; its input is the "
                      "previous layer unless `inputs` says otherwise. With `zoo`: your own head, which takes "
                      "the pooled features",
              .type = "list of tables"},
             read_tables_of_layers,
             write_tables_of_layers},
    key<&ModelRecipe::weights>(
        {.name = "weights",
         .effect = Effect::kNone,
         .help = "a file or a run folder to start from, e.g. `model.h5`, safetensors, Keras "
                 "([interop.md](interop.md)): parameters that match in name and shape are loaded, the others "
                 "are initialized, and the run reports both. An ensemble gives its first member. "
                 "Parameters of the file that the network lacks are an error unless `partial` is true"}),
    key<&ModelRecipe::partial>(
        {.name = "partial",
         .effect = Effect::kNone,
         .help = "`true`: parameters in the file of `weights` that the network lacks are left out"}),
    key<&ModelRecipe::freeze>(
        {.name = "freeze",
         .effect = Effect::kNewResult,
         .help =
             "nodes whose parameters are not trained: names, in which `*` stands for any text; "
             "`\"before:NAME\"`: all nodes before the layer NAME in the list of `convoke summary`; `\"blocks:3\"`: "
             "the first three blocks of a zoo model; `\"backbone\"`: all except the head. Frozen nodes "
             "cost no backward pass, and frozen batch norms use their running statistics"}),
    key<&ModelRecipe::cache_features>(
        {.name = "cache_features",
         .range = {.least = 0},
         .effect = Effect::kNewResult,
         .help = "number of views per sample whose features before the first trained node are computed once "
                 "and cached; 0: off. A resumed run may change it unless samples are augmented"}),
    shorthand(key<&ModelRecipe::zoo>(
        {.name = "zoo",
         .help = "name of a published network, e.g. `\"resnet18\"`; `layers` replace its head"})),
    shorthand(key<&ModelRecipe::file>(
        {.name = "file",
         .help = "a model of another program or of Convoke, instead of `layers`: ONNX, Keras or `model.h5` "
                 "([interop.md](interop.md)). Its weights are the initial weights unless `weights` names "
                 "others"})),
    shorthand(key<&ModelRecipe::output_node>(
        {.name = "output_node",
         .fallback = "the first of ONNX",
         .help = "the output to take of a `file` that has several: its name, or that of a node"})),
    shorthand(key<&ModelRecipe::outputs>(
        {.name = "outputs",
         .noun = "kind of outputs",
         .names = interop::output_kinds,
         .fallback = "as the file says, or its last layers show",
         .help =
             "the kind of the outputs of `file` ([prediction.md](prediction.md)); `train.loss` follows it"})),
    shorthand(key<&ModelRecipe::classes>({.name = "classes",
                                          .range = {.least = 1},
                                          .fallback = "1000 with zoo, with file the file's",
                                          .help = "number of outputs of a zoo model or a file, whose last "
                                                  "layer with weights is then replaced"})),
    shorthand(key<&ModelRecipe::head>(
        {.name = "head", .fallback = "true", .help = "`false`: a zoo model ends with its pooled features"})),
    shorthand(
        key<&ModelRecipe::batch_norm>({.name = "batch_norm",
                                       .noun = "group of batch norms",
                                       .names =
                                           [] {
                                             return std::vector<std::string>{"micro_batch", "synchronized"};
                                           },
                                       .fallback = "each layer's own",
                                       .help = "`\"synchronized\"`: every batch norm that is not "
                                               "frozen uses the statistics of the whole batch; "
                                               "`\"micro_batch\"`: those of its micro-batch"})),
};

// Keys of a layer's table that give its position in the graph, not its function.
constexpr std::array<std::string_view, 6> kWiring{"activation", "name", "inputs", "trainable", "l1", "l2"};

bool is_wiring(std::string_view key) {
  return std::find(kWiring.begin(), kWiring.end(), key) != kWiring.end();
}

// Returns { layer = "conv2d", filters = 32, kernel = 3, activation = "relu" } with every hyper-parameter.
Settings resolved_layer(const Settings& written) {
  if (*written.find("layer") == Value("shared")) return written;  // has no hyper-parameters
  Settings own;
  own.set_where(written.where());
  for (const auto& [key, value] : written.entries()) {
    if (!is_wiring(key)) own.set(key, value, written.place(key));
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

// Returns the key that gives the network: "zoo" also if "layers" are its head. Throws if none does, or two
// others do.
std::string source_of_layers(SettingsReader& read, const ModelRecipe& model) {
  std::vector<std::string> given;
  if (!model.zoo.empty()) given.emplace_back("zoo");
  if (!model.layers.empty() && model.zoo.empty()) given.emplace_back("layers");
  if (!model.file.empty()) given.emplace_back("file");
  if (given.empty()) {
    read.fail_at("layers", "a model needs \"layers\", \"zoo\" or \"file\"",
                 "for example layers = [ { layer = \"flatten\" }, { layer = \"dense\", units = 10 } ], zoo = "
                 "\"resnet18\", or file = \"model.onnx\"");
  }
  if (given.size() > 1) {
    read.fail_at(given[1], fmt::format("a model has \"{}\" or \"{}\", not both", given[0], given[1]),
                 "remove one of them");
  }
  return given.front();
}

// Replaces the last layer with weights by one with `classes` outputs. It keeps its name, so that the weights
// of the file that no longer fit are reported.
std::vector<Settings> with_classes(std::vector<Settings> layers, std::int64_t classes,
                                   const nn::Graph& graph) {
  const auto head = std::find_if(graph.nodes().rbegin(), graph.nodes().rend(),
                                 [](const nn::Node& node) { return !node.parameters.empty(); });
  Settings* const layer =
      head == graph.nodes().rend() ? nullptr : &layers[head->index - 1];  // 0 is the input
  const char* const outputs = layer == nullptr                    ? nullptr
                              : layer->find("units") != nullptr   ? "units"
                              : layer->find("filters") != nullptr ? "filters"
                                                                  : nullptr;
  if (outputs == nullptr) {
    throw Error(
        "the model's last layer with weights is neither dense nor a convolution, so it has no number "
        "of classes to replace",
        "leave \"classes\" out, or change the model where it was made");
  }
  layer->set(outputs, classes);
  return layers;
}

std::vector<Settings> layers_of_zoo(SettingsReader& read, ModelRecipe& model) {
  try {
    if (!read.has("input")) model.input = nn::zoo_input(model.zoo).extents();
  } catch (const Error& error) {
    read.fail_at("zoo", error.what(), error.hint());
  }
  const bool own_head = !model.layers.empty();
  for (const char* key : {"classes", "head"}) {
    if (!own_head || !read.has(key)) continue;
    read.fail_at(key, fmt::format("\"{}\" is of the published head, which \"layers\" replace", key),
                 "remove one of the two");
  }
  if (!read.has("classes")) model.classes = nn::ZooOptions().classes;
  if (own_head) model.head = false;
  try {
    std::vector<Settings> layers =
        nn::describe_graph(nn::make_zoo_model(model.zoo, {Shape(model.input), model.classes, model.head}));
    layers.insert(layers.end(), model.layers.begin(), model.layers.end());
    return layers;
  } catch (const Error& error) {
    read.fail_at("zoo", fmt::format("{}: {}", model.zoo, error.what()), error.hint());
  }
}

std::vector<Settings> layers_of_file(SettingsReader& read, ModelRecipe& model) {
  if (!std::filesystem::exists(model.file)) {
    throw MissingFile(fmt::format("{}: {}: no such file", read.place("file"), model.file),
                      "check model.file, a path from the folder in which the program runs");
  }
  return read.at("file", [&] {
    interop::Imported imported =
        interop::read_model(model.file, {.input = Shape(model.input), .output = model.output_node});
    interop::declare_outputs(imported, model.outputs);
    const nn::Graph& graph = imported.models.description.graph;
    model.input = graph.input_shape().extents();
    model.notes = std::move(imported.notes);
    if (!imported.outputs_note.empty()) model.notes.push_back(imported.outputs_note);
    const nn::Loss& loss = *imported.models.description.loss;
    const bool assumed = imported.models.description.outputs_assumed && read.has("classes");
    if ((loss.activation() == "sigmoid" && !assumed) || !model.outputs.empty()) model.loss = loss.settings();
    model.normalizes = imported.raw_input;
    if (!read.has("weights")) model.weights = model.file;
    std::vector<Settings> layers = nn::describe_graph(graph);
    return read.has("classes") ? with_classes(std::move(layers), model.classes, graph) : layers;
  });
}

// Returns the layers of the recipe, of the published network or of the file.
std::vector<Settings> resolve_layers(SettingsReader& read, ModelRecipe& model) {
  const std::string source = source_of_layers(read, model);
  if (read.has("head") && source != "zoo") {
    read.fail_at("head", "\"head\" needs \"zoo\"", "change the last layer instead");
  }
  for (const char* key : {"output_node", "outputs"}) {
    if (!read.has(key) || source == "file") continue;
    read.fail_at(key, fmt::format("\"{}\" needs \"file\"", key),
                 "it chooses among the outputs of a model file");
  }
  if (source == "zoo") return layers_of_zoo(read, model);
  if (source == "file") return layers_of_file(read, model);
  if (read.has("classes")) {
    read.fail_at("classes", "\"classes\" needs \"zoo\" or \"file\"", "change the last layer instead");
  }
  if (!read.has("input")) read.fail_at("input", "\"input\" is missing", "for example input = [1, 28, 28]");
  return model.layers;
}

// `batch_norm` overrides the setting of every batch norm, except frozen ones, which compute no statistics.
void choose_batch_norm(SettingsReader& read, const ModelRecipe& model, std::vector<Settings>& layers) {
  bool any = false;
  for (Settings& layer : layers) {
    const Settings resolved = resolved_layer(layer);
    if (resolved.find("synchronized") == nullptr) continue;
    any = true;
    if (*resolved.find("frozen") != Value(true))
      layer.set("synchronized", model.batch_norm == "synchronized");
  }
  if (!any) read.fail_at("batch_norm", "the model has no batch norm", "remove the key");
}

// Notes layers of the recipe whose penalty has no effect. Files may have such layers: they mean nothing.
void note_penalties(const nn::Graph& graph, ModelRecipe& model) {
  for (const nn::Node& node : graph.nodes()) {
    const bool any = std::ranges::any_of(
        node.parameters, [](const nn::ParameterSpec& spec) { return spec.l1 != 0 || spec.l2 != 0; });
    if (any || (node.options.l1 == 0 && node.options.l2 == 0)) continue;
    model.notes.push_back(fmt::format("\"{}\" has no effect on {}: none of its parameters has a penalty",
                                      node.options.l2 != 0 ? "l2" : "l1", node.name));
  }
}

void read_model(SettingsReader& read, const Settings&, Recipe& recipe) {
  ModelRecipe& model = recipe.model;
  read_keys(kModelKeys, read, model);
  std::vector<Settings> layers = resolve_layers(read, model);
  // Builds the graph first: its messages name the layer and the shapes that do not fit.
  const auto build = [&] {
    try {
      return nn::build_graph(nn::input_of(Shape(model.input), layers), layers);
    } catch (const Error& error) {
      if (model.zoo.empty() || model.layers.empty()) throw;
      throw Error(error.what(), fmt::format("{}{}\"layers\" are the head of {}, and take its pooled features",
                                            error.hint(), error.hint().empty() ? "" : "; ", model.zoo));
    }
  };
  nn::Graph graph = build();
  if (!model.batch_norm.empty()) {
    choose_batch_norm(read, model, layers);
    graph = build();
  }
  if (model.file.empty()) note_penalties(graph, model);
  try {
    model.freeze = nn::resolve_parts(model.zoo, graph, model.freeze);
    nn::freeze(graph, model.freeze);
  } catch (const Error& error) {
    read.fail_at("freeze", error.what(), error.hint());
  }
  if (model.cache_features > 0 && nn::frozen_prefix(graph) == 0) {
    read.fail_at("cache_features",
                 fmt::format("the first layers of the network are not frozen: {} is trained",
                             nn::first_not_fixed(graph)),
                 "freeze the backbone (model.freeze = [\"backbone\"]), or set cache_features to 0");
  }
  model.layers.clear();
  for (const Settings& layer : layers) model.layers.push_back(resolved_layer(layer));
}

}  // namespace

nn::Graph graph_of(const ModelRecipe& model) {
  nn::Graph graph = nn::build_graph(nn::input_of(Shape(model.input), model.layers), model.layers);
  nn::freeze(graph, model.freeze);
  return graph;
}

Section model_section() {
  return section_of<kModelKeys, &Recipe::model>(
      "model",
      "The network: `layers`, a published one (`zoo`, whose head `layers` replace), or a model file "
      "(`file`).",
      read_model);
}

}  // namespace convoke::recipe
