// The traits of layers, compared with their behavior.
#include "convoke/nn/layer.hpp"

#include "convoke/core/error.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/layers.hpp"
#include "experiment.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

/// Returns a value that most keys of this type accept; no value for names.
std::optional<Value> value_of(const KeyDescription& key) {
  if (key.type == "true or false") return Value(key.fallback == "false");
  if (key.type == "whole number") return Value(4);
  if (key.type == "number") return Value(0.5);
  if (key.type == "list of numbers") return Value(0.5);
  if (key.type == "number or [height, width]" || key.type.starts_with("\"auto\"")) return Value(2);
  if (key.type.starts_with("number,")) return Value(1);
  if (key.name == "function") return Value("abs");
  return std::nullopt;
}

/// Returns the layer with its required keys, and with each of its other keys in turn.
std::vector<Settings> variants(const LayerHelp& layer) {
  std::vector<Settings> all;
  for (const std::int64_t extent : {-1, 1}) {  // for lists: those of reshape and permute
    Settings least{{"layer", layer.name}};
    for (const KeyDescription& key : layer.keys) {
      if (!key.required) continue;
      const std::optional<Value> value = value_of(key);
      least.set(key.name, value ? *value : Value(Value::Array{extent}));
    }
    all.push_back(least);
    for (const KeyDescription& key : layer.keys) {
      const std::optional<Value> value = key.required ? std::nullopt : value_of(key);
      if (!value) continue;
      all.push_back(least);
      all.back().set(key.name, *value);
    }
  }
  return all;
}

/// Returns a network of this layer on an input that it accepts; no network if there is no such input.
std::optional<Graph> network_of(const LayerPtr& layer) {
  const std::vector<ValueSpec> inputs{
      {Shape{8, 6, 6}}, {Shape{6, 8}}, {Shape{8}}, {Shape{6}, ValueType::kToken}};
  for (const ValueSpec& input : inputs) {
    for (const std::size_t count : {1, 2, 3}) {
      Graph graph(input);
      try {
        const std::size_t node = graph.add(layer, std::vector<std::size_t>(count, 0));
        dense(flatten({&graph, node}), {.units = 3});
        return graph;
      } catch (const Error&) {
      }
    }
  }
  return std::nullopt;
}

bool depends_on_the_seed(const Graph& graph) {
  Experiment experiment(graph, {.micro_batch = 3});
  const Batch batch(graph, 3);
  std::vector<float> first;
  for (const std::uint64_t seed : {1, 2}) {
    std::copy(batch.input.begin(), batch.input.end(), experiment.network.input().begin());
    std::copy(batch.tokens.begin(), batch.tokens.end(), experiment.network.tokens().begin());
    experiment.working.refresh();
    experiment.network.forward(batch.key(seed));
    const std::span<const float> output = experiment.network.output();
    if (seed == 1) first.assign(output.begin(), output.end());
    if (seed == 2) return !std::equal(first.begin(), first.end(), output.begin());
  }
  return false;
}

}  // namespace

TEST_CASE("draws_random() of every layer agrees with runs of two seeds") {
  std::set<std::string> drawing;
  for (const LayerHelp& help : layer_guide()) {
    int tried = 0;
    for (const Settings& settings : variants(help)) {
      INFO(Value(settings).to_string());
      LayerPtr layer;
      try {
        layer = make_layer(settings);
      } catch (const Error&) {  // keys that exclude each other
        continue;
      }
      const std::optional<Graph> graph = network_of(layer);
      if (!graph) continue;
      ++tried;
      const bool draws = depends_on_the_seed(*graph);
      CHECK(layer->traits().draws_random == draws);
      if (draws) drawing.insert(help.name);
    }
    INFO("no input or settings found for " << help.name << ": teach network_of() or value_of()");
    CHECK(tried > 0);
  }
  CHECK(drawing == std::set<std::string>{"dropout", "gaussian_noise", "gru", "lstm", "stochastic_depth"});
}

TEST_CASE("every layer and each of its keys has a line of help") {
  for (const LayerHelp& layer : layer_guide()) {
    INFO(layer.name);
    CHECK(!layer.help.empty());
    CHECK(!layer.family.empty());
    for (const KeyDescription& key : layer.keys) {
      INFO(key.name);
      CHECK(!key.help.empty());
      CHECK(!key.help.ends_with("."));
    }
  }
}

TEST_CASE("the guide shows the defaults of each layer") {
  for (const LayerHelp& help : layer_guide()) {
    for (const Settings& settings : variants(help)) {
      if (settings.entries().size() != 1) continue;  // it has required keys
      std::optional<Settings> own;
      try {
        own = make_layer(settings)->settings();
      } catch (const Error&) {
        continue;
      }
      for (const KeyDescription& key : help.keys) {
        INFO(help.name << "." << key.name);
        const Value* written = own->find(key.name);
        if (written != nullptr && key.fallback != "the size") CHECK(written->to_string() == key.fallback);
      }
    }
  }
}
