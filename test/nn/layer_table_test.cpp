#include "convoke/nn/layer_table.hpp"

#include "around.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/source_path.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

/// Returns every layer and every hyper-parameter, none at its default, and a residual path.
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
          {{"layer", "dense"}, {"units", 3}, {"activation", "softmax"}},
          // Structure, on images and sequences.
          {{"layer", "channel_shuffle"}, {"groups", 4}, {"inputs", list({"entry"})}, {"name", "mixed"}},
          {{"layer", "slice"}, {"axis", "height"}, {"begin", 1}, {"size", 2}},
          {{"layer", "concat"}, {"axis", "height"}, {"inputs", list({"slice_1", "mixed"})}},
          {{"layer", "permute"}, {"dims", list({2, 3, 1})}},
          {{"layer", "reshape"}, {"shape", list({-1, 8})}},
          {{"layer", "identity"}, {"name", "rows"}},
          {{"layer", "subtract"}, {"inputs", list({"rows", "reshape_1"})}},
          {{"layer", "average"}, {"inputs", list({"subtract_1", "rows"})}},
          {{"layer", "maximum"}, {"inputs", list({"average_1", "rows"})}},
          {{"layer", "multiply"}, {"inputs", list({"maximum_1", "rows"})}}};
}

/// Returns further layers for images, none at its default; see everything().
std::vector<Settings> windows_of_images() {
  return {
      {{"layer", "zero_pad"}, {"padding", list({1, 0, 2, 3})}},
      {{"layer", "conv2d"}, {"filters", 6}, {"kernel", 3}, {"padding", list({1, 0, 2, 3})}},
      {{"layer", "depthwise_conv2d"},
       {"kernel", list({3, 2})},
       {"stride", list({1, 2})},
       {"padding", 1},
       {"dilation", 2},
       {"multiplier", 2},
       {"bias", false},
       {"activation", "relu"}},
      {{"layer", "separable_conv2d"},
       {"filters", 5},
       {"kernel", 2},
       {"stride", 2},
       {"padding", "same"},
       {"dilation", list({1, 2})},
       {"multiplier", 3},
       {"bias", false}},
      {{"layer", "conv2d_transpose"},
       {"filters", 4},
       {"kernel", 3},
       {"stride", 2},
       {"padding", list({1, 0, 1, 1})},
       {"output_padding", list({1, 0})},
       {"dilation", 2},
       {"groups", 1},
       {"bias", false}},
      {{"layer", "conv2d_transpose"}, {"filters", 4}, {"kernel", 2}, {"groups", 2}},
      {{"layer", "resize"}, {"size", list({20, 21})}, {"method", "bilinear"}, {"centers", "align_corners"}},
      {{"layer", "resize"},
       {"scale", list({1, 2})},
       {"method", "nearest"},
       {"centers", "asymmetric"},
       {"rounding", "floor"}},
      {{"layer", "crop"}, {"cropping", list({1, 2, 0, 3})}},
      {{"layer", "max_pool"}, {"size", 2}, {"padding", list({1, 0, 0, 1})}, {"ceil", true}},
      {{"layer", "average_pool"}, {"size", 2}, {"ceil", true}, {"count_padding", true}},
      {{"layer", "adaptive_average_pool"}, {"size", list({4, 3})}},
      {{"layer", "adaptive_max_pool"}, {"size", 2}},
      {{"layer", "global_max_pool"}}};
}
std::vector<Settings> windows_of_sequences() {
  return {
      {{"layer", "conv1d"},
       {"filters", 6},
       {"kernel", 3},
       {"stride", 1},
       {"padding", "causal"},
       {"dilation", 2},
       {"groups", 2},
       {"bias", false},
       {"activation", "relu"}},
      {{"layer", "max_pool1d"}, {"size", 3}, {"stride", 1}, {"padding", list({1, 2})}, {"ceil", true}},
      {{"layer", "average_pool1d"}, {"size", 2}, {"stride", 3}, {"padding", "same"}, {"count_padding", true}},
      {{"layer", "global_max_pool1d"}, {"inputs", list({"max_pool1d_1"})}, {"name", "most"}},
      {{"layer", "global_average_pool1d"}, {"inputs", list({"average_pool1d_1"})}, {"name", "mean"}},
      {{"layer", "add"}, {"inputs", list({"most", "mean"})}}};
}

/// Returns activations, normalizations and noise, none at its default.
std::vector<Settings> pointwise() {
  return {{{"layer", "rescale"}, {"scale", 0.5}, {"offset", -1.0}},
          {{"layer", "elementwise"}, {"function", "maximum"}, {"operands", list({"x", "1.5"})}},
          {{"layer", "standardize"}, {"mean", list({0.5})}, {"variance", list({0.25})}},
          {{"layer", "batch_norm"},
           {"momentum", 0.9},
           {"epsilon", 1e-5},
           {"scale", false},
           {"center", false},
           {"frozen", true}},
          {{"layer", "local_response_norm"}, {"size", 3}, {"alpha", 0.1}, {"beta", 0.5}, {"k", 2.0}},
          {{"layer", "layer_norm"}, {"axis", "channels"}, {"epsilon", 1e-6}, {"scale", false}},
          {{"layer", "group_norm"}, {"groups", 2}, {"epsilon", 1e-5}, {"center", false}},
          {{"layer", "channel_scale"}, {"initial", 0.1}},
          {{"layer", "dropout"}, {"rate", 0.5}, {"spatial", true}},
          {{"layer", "gaussian_noise"}, {"stddev", 0.1}},
          {{"layer", "stochastic_depth"}, {"rate", 0.1}},
          {{"layer", "elu"}, {"alpha", 0.5}},
          {{"layer", "gelu"}, {"approximate", true}},
          {{"layer", "leaky_relu"}, {"negative_slope", 0.1}},
          {{"layer", "prelu"}, {"initializer", Settings{{"name", "constant"}, {"value", 0.25}}}},
          {{"layer", "hard_sigmoid"}},
          {{"layer", "hard_swish"}},
          {{"layer", "relu"}},
          {{"layer", "relu6"}},
          {{"layer", "selu"}},
          {{"layer", "silu"}},
          {{"layer", "softplus"}}};
}

/// Returns the same for layers on tokens and sequences.
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
          {{"layer", "attention"},
           {"heads", 3},
           {"scale", 0.5},
           {"inputs", list({"lstm_1", "lstm_1", "lstm_1"})}},
          {{"layer", "gru"}, {"units", 2}}};
}

std::vector<std::pair<ValueSpec, std::vector<Settings>>> networks() {
  return {{{4, 12, 12}, everything()},
          {{2, 12, 13}, windows_of_images()},
          {{9, 4}, windows_of_sequences()},
          {{4, 6, 6}, pointwise()},
          {tokens(6), sequences()}};
}

}  // namespace

TEST_CASE("a graph from settings: names, wiring, activations as separate nodes") {
  const Graph graph = build_graph({4, 12, 12}, everything());
  std::string nodes;
  for (const Node& node : graph.nodes()) {
    nodes += node.name + (node.layer == nullptr ? "" : ":" + std::string(node.layer->type()));
    for (const std::size_t input : node.inputs) nodes += " " + graph.node(input).name;
    nodes += "\n";
  }
  CHECK(nodes ==
        "input\n"
        "entry.conv2d:conv2d input\n"
        "entry:relu entry.conv2d\n"
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
        "softmax_1:softmax dense_2\n"
        "mixed:channel_shuffle entry\n"
        "slice_1:slice mixed\n"
        "concat_1:concat slice_1 mixed\n"
        "permute_1:permute concat_1\n"
        "reshape_1:reshape permute_1\n"
        "rows:identity reshape_1\n"
        "subtract_1:subtract rows reshape_1\n"
        "average_1:average subtract_1 rows\n"
        "maximum_1:maximum average_1 rows\n"
        "multiply_1:multiply maximum_1 rows\n");
  CHECK(graph.node(1).shape == Shape{8, 6, 6});
  CHECK(graph.node(1).parameters.size() == 1);
  CHECK(graph.node(3).shape == Shape{8, 6, 6});
  CHECK(graph.node(7).shape == Shape{8, 6, 2});
}

TEST_CASE(
    "describe_graph is the inverse of build_graph, and writes every hyper-parameter with its given value") {
  for (const auto& [input, layers] : networks()) {
    const Graph graph = build_graph(input, layers);
    const std::vector<Settings> described = describe_graph(graph);
    const Graph again = build_graph(input, described);
    CHECK(describe_graph(again) == described);
    CHECK(again.summary() == graph.summary());
    std::size_t node = 0;
    for (const Settings& layer : layers) {
      while (*described.at(node).find("layer") != *layer.find("layer")) ++node;
      const bool named_as_its_activation = layer.find("activation") != nullptr;
      for (const auto& [key, value] : layer.entries()) {
        INFO(described[node].find("name")->to_string() << ", " << key);
        if (key == "activation" || (key == "name" && named_as_its_activation)) continue;
        REQUIRE(described[node].find(key) != nullptr);
        CHECK(*described[node].find(key) == value);
      }
      ++node;
    }
  }
}

TEST_CASE("describe_graph writes names, inputs and defaults") {
  CHECK(describe_graph(build_graph({4, 12, 12}, everything()))[0] == Settings{{"layer", "conv2d"},
                                                                              {"name", "entry.conv2d"},
                                                                              {"inputs", list({"input"})},
                                                                              {"filters", 8},
                                                                              {"kernel", list({3, 5})},
                                                                              {"stride", 2},
                                                                              {"padding", "same"},
                                                                              {"dilation", 1},
                                                                              {"groups", 2},
                                                                              {"bias", false}});
}

TEST_CASE("layers of tokens and sequences have Keras' shapes and numbers of parameters") {
  const Graph graph = build_graph(tokens(6), sequences());
  CHECK(graph.node(2).shape == Shape{6, 6});
  CHECK(graph.node(4).shape == Shape{2});
  // Keras counts 9 * 4; 2 * 4 * 3 * (4 + 3) without biases; 3 * 2 * (6 + 2) and two biases.
  CHECK(graph.parameter_count() == 36 + 168 + 48 + 12);
}

TEST_CASE("every layer of the table makes a layer of its name") {
  std::vector<Settings> described;
  for (const auto& [input, layers] : networks()) {
    for (const Settings& settings : describe_graph(build_graph(input, layers))) described.push_back(settings);
  }
  for (const std::string& name : names_in(layer_guide())) {
    const auto it = std::find_if(described.begin(), described.end(), [&](const Settings& settings) {
      return *settings.find("layer") == Value(name);
    });
    INFO(name);
    REQUIRE(it != described.end());
    CHECK(make_layer(*it)->type() == name);
  }
}

TEST_CASE("a slash in a name becomes a dot, also in inputs") {
  const Graph graph =
      build_graph({4}, {{{"layer", "dense"}, {"units", 4}, {"name", "block/1"}, {"activation", "relu"}},
                        {{"layer", "dense"}, {"units", 4}, {"name", "block/2"}},
                        {{"layer", "add"}, {"inputs", list({"block/1", "block.2"})}}});
  CHECK(graph.node(1).name == "block.1.dense");
  CHECK(graph.node(2).name == "block.1");
  CHECK(graph.node(3).name == "block.2");
  CHECK(graph.node(4).inputs == std::vector<std::size_t>{2, 3});
  CHECK(refusal({4}, {{{"layer", "relu"}, {"name", "a/b"}}, {{"layer", "relu"}, {"name", "a.b"}}}) ==
        "recipe.toml:7: two nodes are called \"a.b\" | give one of them another name");
  Graph own(Shape{4});
  CHECK_THROWS_WITH(own.add(make_layer({{"layer", "relu"}}), {0}, "a/b"),
                    "a node cannot be called \"a/b\": files use slashes for groups");
}

TEST_CASE("the activation \"linear\" adds no node") {
  CHECK(build_graph({4}, {{{"layer", "dense"}, {"units", 2}, {"activation", "linear"}}}).nodes().size() == 2);
}

TEST_CASE("errors in layers name the place, the mistake and the fix") {
  CHECK(refusal({4}, {{{"layer", "dens"}, {"units", 2}}}) ==
        "recipe.toml:7: unknown layer \"dens\" (did you mean \"dense\"?) | known: " +
            join(names_in(layer_guide())));
  CHECK(refusal({4}, {{{"layer", "dense"}, {"units", 2}, {"biass", true}}})
            .starts_with("recipe.toml:7: layer \"dense\": unknown key \"biass\" (did you mean \"bias\"?)"));
  CHECK(refusal({4}, {{{"layer", "dense"}, {"units", "many"}}})
            .starts_with("recipe.toml:7: layer \"dense\": \"units\""));
  CHECK(refusal({4}, {{{"layer", "dense"}, {"units", 0}}}) ==
        "recipe.toml:7: layer \"dense\": \"units\" must be at least 1, but is 0 | units: outputs");
  CHECK(refusal({4}, {{{"layer", "dense"}, {"units", 2}, {"activation", "rellu"}}}) ==
        "recipe.toml:7: unknown activation \"rellu\" (did you mean \"relu\"?) | "
        "known: elu, gelu, hard_sigmoid, hard_swish, leaky_relu, linear, prelu, relu, relu6, selu, sigmoid, "
        "silu, softmax, softplus, tanh");
  CHECK(refusal({3, 8, 8}, {{{"layer", "conv2d"}, {"filters", 2}, {"kernel", 3}, {"activation", "max_pool"}}})
            .starts_with("recipe.toml:7: unknown activation \"max_pool\""));
  CHECK(refusal({4}, {{{"layer", "dropout"}, {"rate", 1}}}) ==
        "recipe.toml:7: layer \"dropout\": \"rate\" must be at least 0 and below 1, but is 1 | rate: "
        "probability that an element is zeroed");
  CHECK(refusal({3, 8, 8}, {{{"layer", "conv2d"}, {"filters", 2}, {"kernel", list({3, 3, 3})}}}) ==
        "recipe.toml:7: layer \"conv2d\": \"kernel\" must be a number >= 1 or [height, width], each >= 1, "
        "but is [3, 3, 3] | kernel: size of the window");
  CHECK(refusal({3, 8, 8}, {{{"layer", "conv2d"}, {"filters", 2}, {"kernel", 3}, {"padding", "full"}}}) ==
        "recipe.toml:7: layer \"conv2d\": \"padding\" must be \"valid\", \"same\", a number >= 0, [height, "
        "width] or [top, bottom, left, right], but is \"full\" | padding: zeroes around the image");
  CHECK(
      refusal({8, 3}, {{{"layer", "conv1d"}, {"filters", 2}, {"kernel", 3}, {"padding", list({1, 2, 3})}}}) ==
      "recipe.toml:7: layer \"conv1d\": \"padding\" must be \"valid\", \"same\", \"causal\", a number >= 0 "
      "or [before, after], but is [1, 2, 3] | padding: zeroes before and after the sequence");
  CHECK(refusal({8, 3}, {{{"layer", "max_pool1d"}, {"padding", "causal"}}}) ==
        "recipe.toml:7: layer \"max_pool1d\": \"padding\" must be \"valid\", \"same\", a number >= 0 or "
        "[before, after], but is \"causal\" | padding: padding before and after the sequence");
  CHECK(refusal({3, 8, 8}, {{{"layer", "zero_pad"}, {"padding", list({1, 2, 3})}}}) ==
        "recipe.toml:7: layer \"zero_pad\": \"padding\" must be a number >= 0, [height, width] or [top, "
        "bottom, left, right], but is [1, 2, 3] | padding: zeroes at each side");
  CHECK(
      refusal({3, 8, 8},
              {{{"layer", "conv2d_transpose"}, {"filters", 2}, {"kernel", 3}, {"output_padding", "same"}}}) ==
      "recipe.toml:7: layer \"conv2d_transpose\": \"output_padding\" must be \"auto\", a number >= 0 or "
      "[height, width], but is \"same\" | output_padding: rows and columns added to the output, fewer than "
      "the stride; \"auto\": as Keras' None");
  CHECK(refusal({3, 8, 8}, {{{"layer", "resize"}, {"size", 4}, {"scale", 2}}}) ==
        "recipe.toml:7: layer \"resize\": needs either \"size\" or \"scale\" | size = [height, width], or "
        "scale = 2");
  CHECK(refusal({3, 8, 8}, {{{"layer", "resize"}, {"size", 4}, {"method", "cubic"}}}) ==
        "recipe.toml:7: unknown method \"cubic\" | known: bilinear, nearest");
  CHECK(refusal({3, 8, 8}, {{{"layer", "resize"}, {"size", 4}, {"centers", "corners"}}}) ==
        "recipe.toml:7: unknown centers \"corners\" | known: align_corners, asymmetric, half_pixel");
  CHECK(refusal({3, 8, 8},
                {{{"layer", "resize"}, {"size", 4}, {"method", "bilinear"}, {"rounding", "floor"}}}) ==
        "recipe.toml:7: layer \"resize\": \"rounding\" is for method \"nearest\" | remove it: \"bilinear\" "
        "does not round");
  CHECK(refusal({3, 8, 8}, {{{"layer", "batch_norm"}, {"momentum", 1.5}}})
            .starts_with("recipe.toml:7: layer \"batch_norm\": \"momentum\""));
  CHECK(refusal({3, 8, 8}, {{{"layer", "batch_norm"}, {"frozen", true}, {"synchronized", true}}}) ==
        "recipe.toml:7: layer \"batch_norm\": \"frozen\" and \"synchronized\" exclude each other | running "
        "statistics are the same for all micro-batches: remove one of the two");
  CHECK(refusal({4}, {{{"layer", "add"}}}) ==
        "recipe.toml:7: add_1 (add): needs two or more inputs | "
        "name the inputs: { layer = \"add\", inputs = [\"a\", \"b\"] }");
}

TEST_CASE("docs/layers.md contains the tables that the code prints") {
  INFO("replace the tables between the page's two marks by the output of convoke layers --markdown");
  const std::string text = bytes_of(source_path("docs/layers.md"));
  const std::string begin = "<!-- layers -->\n", end = "<!-- end of layers -->";
  REQUIRE_THAT(text, Contains(begin));
  const std::size_t from = text.find(begin) + begin.size();
  CHECK(text.substr(from, text.find(end) - from) == layer_reference());
}

TEST_CASE("a terminal lists all layers, and shows one with its keys") {
  const std::string list = list_layers();
  for (const LayerHelp& layer : layer_guide()) CHECK_THAT(list, Contains("  " + layer.name + " "));
  const std::string conv = describe_layer("conv2d");
  CHECK_THAT(conv, Contains("filters           output channels (required)"));
  CHECK_THAT(conv, Contains("(default: \"valid\")"));
  CHECK_THAT(conv, Contains("trainable"));
  CHECK_THAT(error_of([] { describe_layer("conv2b"); }), Contains("did you mean \"conv2d\"?"));
}
