#include "convoke/nn/layer_table.hpp"

#include <algorithm>

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

Value::Array list(std::initializer_list<Value> values) { return values; }

/// Every layer and every hyper-parameter, none at its default; a residual path.
std::vector<Settings> everything() {
  return {{{"layer", "conv2d"},
           {"filters", 8},
           {"kernel", list({3, 5})},
           {"stride", 2},
           {"padding", "same"},
           {"groups", 2},
           {"bias", false},
           {"activation", "relu"},
           {"name", "entry"}},
          {{"layer", "conv2d"}, {"filters", 8}, {"kernel", 3}, {"dilation", 2}, {"padding", 2}},
          {{"layer", "batch_norm"}, {"momentum", 0.9}, {"epsilon", 1e-5}},
          {{"layer", "add"}, {"inputs", list({"batch_norm_1", "entry"})}, {"activation", "tanh"}},
          {{"layer", "max_pool"}, {"size", 3}, {"stride", list({1, 2})}, {"padding", list({1, 0})}},
          {{"layer", "average_pool"}, {"padding", "same"}},
          {{"layer", "sigmoid"}, {"name", "gate"}},
          {{"layer", "dropout"}, {"rate", 0.25}},
          {{"layer", "global_average_pool"}, {"name", "mean"}},
          {{"layer", "flatten"}, {"inputs", list({"gate"})}},
          {{"layer", "dense"}, {"units", 8}, {"bias", false}},
          {{"layer", "add"}, {"inputs", list({"mean", "dense_1"})}},
          {{"layer", "dense"}, {"units", 3}, {"activation", "softmax"}}};
}

/// The same for layers on tokens and sequences.
std::vector<Settings> sequences() {
  return {{{"layer", "embedding"}, {"vocabulary", 9}, {"units", 4}, {"name", "words"}},
          {{"layer", "lstm"},
           {"units", 3},
           {"sequences", true},
           {"bidirectional", true},
           {"bias", false},
           {"dropout", 0.25},
           {"recurrent_dropout", 0.5},
           {"inputs", list({"words", "input"})}},
          {{"layer", "gru"}, {"units", 2}}};
}

std::string refusal(const Shape& input, std::vector<Settings> layers) {
  layers.back().set_where("recipe.toml:7");
  try {
    build_graph(input, layers);
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "";
}

}  // namespace

TEST_CASE("a graph from settings: names, wiring, activations as nodes of their own") {
  const Graph graph = build_graph({4, 12, 12}, everything());
  std::string nodes;
  for (const Node& node : graph.nodes()) {
    nodes += node.name + (node.layer == nullptr ? "" : ":" + std::string(node.layer->type()));
    for (const std::size_t input : node.inputs) nodes += " " + graph.node(input).name;
    nodes += "\n";
  }
  CHECK(nodes ==
        "input\n"
        "entry/conv2d:conv2d input\n"
        "entry:relu entry/conv2d\n"
        "conv2d_2:conv2d entry\n"
        "batch_norm_1:batch_norm conv2d_2\n"
        "add_1:add batch_norm_1 entry\n"
        "tanh_1:tanh add_1\n"
        "max_pool_1:max_pool tanh_1\n"
        "average_pool_1:average_pool max_pool_1\n"
        "gate:sigmoid average_pool_1\n"
        "dropout_1:dropout gate\n"
        "mean:global_average_pool dropout_1\n"
        "flatten_1:flatten gate\n"
        "dense_1:dense flatten_1\n"
        "add_2:add mean dense_1\n"
        "dense_2:dense add_2\n"
        "softmax_1:softmax dense_2\n");
  CHECK(graph.node(1).shape == Shape{8, 6, 6});
  CHECK(graph.node(1).parameters.size() == 1);
  CHECK(graph.node(3).shape == Shape{8, 6, 6});
  CHECK(graph.node(7).shape == Shape{8, 6, 2});
}

TEST_CASE("describe_graph and build_graph are inverse") {
  const Graph graph = build_graph({4, 12, 12}, everything());
  const std::vector<Settings> described = describe_graph(graph);
  const Graph again = build_graph({4, 12, 12}, described);
  CHECK(describe_graph(again) == described);
  CHECK(again.summary() == graph.summary());
  // Every hyper-parameter is there, as it was given.
  CHECK(described[0] == Settings{{"layer", "conv2d"},
                                 {"name", "entry/conv2d"},
                                 {"inputs", list({"input"})},
                                 {"filters", 8},
                                 {"kernel", list({3, 5})},
                                 {"stride", 2},
                                 {"padding", "same"},
                                 {"dilation", 1},
                                 {"groups", 2},
                                 {"bias", false}});
  CHECK(described[6] == Settings{{"layer", "max_pool"},
                                 {"name", "max_pool_1"},
                                 {"inputs", list({"tanh_1"})},
                                 {"size", 3},
                                 {"stride", list({1, 2})},
                                 {"padding", list({1, 0})}});
}

TEST_CASE("describe_graph and build_graph are inverse on tokens and sequences") {
  const Graph graph = build_graph(tokens(6), sequences());
  const std::vector<Settings> described = describe_graph(graph);
  CHECK(describe_graph(build_graph(tokens(6), described)) == described);
  CHECK(described[1] == Settings{{"layer", "lstm"},
                                 {"name", "lstm_1"},
                                 {"inputs", list({"words", "input"})},
                                 {"units", 3},
                                 {"sequences", true},
                                 {"bidirectional", true},
                                 {"bias", false},
                                 {"dropout", 0.25},
                                 {"recurrent_dropout", 0.5}});
  CHECK(graph.node(2).shape == Shape{6, 6});
  CHECK(graph.node(3).shape == Shape{2});
  // As Keras counts: 9 * 4; 2 * 4 * 3 * (4 + 3) without biases; 3 * 2 * (6 + 2) and two biases.
  CHECK(graph.parameter_count() == 36 + 168 + 48 + 12);
}

TEST_CASE("every layer of the table makes a layer of its name") {
  std::vector<Settings> described = describe_graph(build_graph({4, 12, 12}, everything()));
  for (const Settings& settings : describe_graph(build_graph(tokens(6), sequences())))
    described.push_back(settings);
  for (const std::string& name : layer_names()) {
    const auto it = std::find_if(described.begin(), described.end(), [&](const Settings& settings) {
      return *settings.find("layer") == Value(name);
    });
    INFO(name);
    REQUIRE(it != described.end());
    CHECK(make_layer(*it)->type() == name);
  }
}

TEST_CASE("an activation \"linear\" is none") {
  CHECK(build_graph({4}, {{{"layer", "dense"}, {"units", 2}, {"activation", "linear"}}}).nodes().size() == 2);
}

TEST_CASE("mistakes in layers name the place, the mistake and the remedy") {
  CHECK(
      refusal({4}, {{{"layer", "dens"}, {"units", 2}}}) ==
      "recipe.toml:7: unknown layer \"dens\" (did you mean \"dense\"?) | known: add, average_pool, "
      "batch_norm, "
      "conv2d, dense, dropout, embedding, flatten, global_average_pool, gru, lstm, max_pool, relu, sigmoid, "
      "softmax, tanh");
  CHECK(refusal({4}, {{{"layer", "dense"}, {"unit", 2}}}).starts_with("recipe.toml:7: layer \"dense\": "));
  CHECK(refusal({4}, {{{"layer", "dense"}, {"units", 2}, {"biass", true}}})
            .starts_with("recipe.toml:7: layer \"dense\": unknown key \"biass\" (did you mean \"bias\"?)"));
  CHECK(refusal({4}, {{{"layer", "dense"}, {"units", "many"}}})
            .starts_with("recipe.toml:7: layer \"dense\": \"units\""));
  CHECK(refusal({4}, {{{"layer", "dense"}, {"units", 0}}}) ==
        "recipe.toml:7: layer \"dense\": \"units\" must be at least 1, but is 0 | ");
  CHECK(refusal({4}, {{{"layer", "dense"}, {"units", 2}, {"activation", "rellu"}}}) ==
        "recipe.toml:7: unknown activation \"rellu\" (did you mean \"relu\"?) | "
        "known: linear, relu, sigmoid, softmax, tanh");
  CHECK(refusal({3, 8, 8}, {{{"layer", "conv2d"}, {"filters", 2}, {"kernel", 3}, {"activation", "max_pool"}}})
            .starts_with("recipe.toml:7: unknown activation \"max_pool\""));
  CHECK(refusal({4}, {{{"layer", "dropout"}, {"rate", 1}}}) ==
        "recipe.toml:7: layer \"dropout\": \"rate\" must be in [0, 1), but is 1 | ");
  CHECK(refusal({3, 8, 8}, {{{"layer", "conv2d"}, {"filters", 2}, {"kernel", list({3, 3, 3})}}}) ==
        "recipe.toml:7: layer \"conv2d\": \"kernel\" must be a number >= 1 or [height, width] of such | ");
  CHECK(refusal({3, 8, 8}, {{{"layer", "conv2d"}, {"filters", 2}, {"kernel", 3}, {"padding", "full"}}}) ==
        "recipe.toml:7: layer \"conv2d\": \"padding\" must be \"valid\", \"same\", a number or [height, "
        "width] | ");
  CHECK(refusal({3, 8, 8}, {{{"layer", "batch_norm"}, {"momentum", 1.5}}})
            .starts_with("recipe.toml:7: layer \"batch_norm\": \"momentum\""));
  CHECK(refusal({3, 8, 8}, {{{"layer", "max_pool"}, {"size", 16}}}).starts_with("recipe.toml:7: "));
}

TEST_CASE("mistakes in wiring and shapes name the place too") {
  CHECK(refusal({3, 8, 8}, {{{"layer", "dense"}, {"units", 2}}}) ==
        "recipe.toml:7: dense_1 (dense): needs a vector (N, F), but its input is (N, 3, 8, 8) | "
        "put a flatten or global_average_pool layer before it");
  CHECK(refusal({4}, {{{"layer", "relu"}, {"inputs", list({"imput"})}}}) ==
        "recipe.toml:7: no node is called \"imput\" (did you mean \"input\"?) | nodes so far: input");
  CHECK(refusal({4}, {{{"layer", "relu"}, {"inputs", list({"input", "input"})}}}) ==
        "recipe.toml:7: a relu layer has one input | ");
  CHECK(refusal({4}, {{{"layer", "add"}}}) ==
        "recipe.toml:7: add_1 (add): needs two or more inputs | "
        "name them: { layer = \"add\", inputs = [\"a\", \"b\"] }");
  CHECK(refusal({4}, {{{"layer", "relu"}, {"name", "a"}}, {{"layer", "relu"}, {"name", "a"}}}) ==
        "recipe.toml:7: two nodes are called \"a\" | give one of them another name");
}
