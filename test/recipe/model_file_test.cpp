// [model] file: the network and its weights from a model file.
#include "convoke/run/model_file.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/nn/layer_table.hpp"
#include "message.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using namespace convoke;
using convoke::recipe::Recipe;

namespace {

nn::Graph small_network() {
  nn::Graph graph({1, 8, 8});
  graph.add(nn::make_layer({{"layer", "conv2d"}, {"filters", 2}, {"kernel", 3}}), {0}, "features");
  graph.add(nn::make_layer({{"layer", "flatten"}}), {1});
  graph.add(nn::make_layer({{"layer", "dense"}, {"units", 4}}), {2}, "head");
  return graph;
}

/// Multiplies by `scale`, reverses two channels and subtracts `mean`.
nn::Graph centering_network(double scale, double mean) {
  nn::Graph graph({2, 8, 8});
  graph.add(nn::make_layer({{"layer", "rescale"}, {"scale", scale}}), {0});
  graph.add(nn::make_layer({{"layer", "slice"}, {"begin", 1}, {"size", 1}}), {1});
  graph.add(nn::make_layer({{"layer", "slice"}, {"size", 1}}), {1});
  graph.add(nn::make_layer({{"layer", "concat"}}), {2, 3});
  graph.add(nn::make_layer({{"layer", "standardize"}, {"mean", mean}, {"variance", 1}}), {4});
  graph.add(nn::make_layer({{"layer", "flatten"}}), {5});
  graph.add(nn::make_layer({{"layer", "dense"}, {"units", 4}}), {6});
  return graph;
}

/// A folder with model.h5.
struct WithModel : TemporaryFolder {
  fs::path file = path() / "model.h5";

  explicit WithModel(const nn::Graph& graph = small_network()) {
    const auto channels = static_cast<std::size_t>(graph.input_shape()[0]);
    std::vector<float> values(engine::canonical_values(engine::canonical_parameters(graph)));
    std::iota(values.begin(), values.end(), 0.0F);
    const data::Normalization none{std::vector<float>(channels, 1), std::vector<float>(channels, 0)};
    run::write_model(file, {.graph = graph, .normalization = none, .class_names = {}}, values);
  }

  std::string recipe(const std::string& more = "") const {
    return "name = \"small\"\n[data]\npath = \"data.h5\"\n[model]\nfile = \"" + file.string() + "\"\n" + more;
  }
};

}  // namespace

TEST_CASE("a recipe takes its network and weights from a file") {
  const WithModel folder;
  const Recipe recipe = Recipe::parse(folder.recipe(), "recipe.toml");
  CHECK(recipe.model.input == std::vector<std::int64_t>{1, 8, 8});
  CHECK(nn::describe_graph(recipe.graph()) == nn::describe_graph(small_network()));
  CHECK(recipe.model.weights == folder.file.string());
  // The resolved recipe lists the layers and names the weights.
  const Recipe again = Recipe::parse(recipe.to_toml(), "recipe.toml");
  CHECK(again.model.file.empty());
  CHECK(again.to_toml() == recipe.to_toml());
}

TEST_CASE("a network that centers pixels of 0..255 takes them as they are stored, also in reverse order") {
  const auto normalizes = [](double scale, double mean) {
    const WithModel folder(centering_network(scale, mean));
    return Recipe::parse(folder.recipe(), "recipe.toml").model.normalizes;
  };
  CHECK(normalizes(1, 116.779));
  CHECK(normalizes(1 / 255.0, 0.456));
  CHECK_FALSE(normalizes(1, 0.456));
  CHECK_FALSE(normalizes(255, 116.779));  // pixels of 0..1
}

TEST_CASE("the head of a file's network is replaced, and other weights can be chosen") {
  const WithModel folder;
  const Recipe recipe = Recipe::parse(folder.recipe("classes = 7\nweights = \"other.h5\"\n"), "recipe.toml");
  CHECK(recipe.graph().node(recipe.graph().find("head")).shape == Shape{7});
  CHECK(recipe.model.weights == "other.h5");
}

TEST_CASE("layers beside a network of the zoo are its head, also under the name of the published one") {
  const auto recipe = [](const std::string& keys) {
    return "name = \"t\"\n[data]\npath = \"d.h5\"\n[model]\nzoo = \"resnet20\"\nfreeze = [\"backbone\"]\n" +
           keys;
  };
  const std::string head =
      "layers = [ { layer = \"dropout\", rate = 0.5 }, { layer = \"dense\", units = 7, name = \"hidden\" }, "
      "{ layer = \"dense\", units = 3, name = \"predictions\" } ]\n";
  const nn::Graph graph = Recipe::parse(recipe(head), "recipe.toml").graph();
  CHECK(graph.nodes().back().shape == Shape{3});
  for (const nn::Node& node : graph.nodes()) {
    INFO(node.name);
    if (!node.parameters.empty()) {
      CHECK(node.options.trainable == (node.name == "hidden" || node.name == "predictions"));
    }
  }
  CHECK(message_of(recipe(head + "classes = 3\n")).what ==
        "recipe.toml:8: [model]: \"classes\" is of the published head, which \"layers\" replace");
  const std::string convolution =
      "layers = [ { layer = \"flatten\" }, { layer = \"conv2d\", filters = 1, kernel = 1 } ]\n";
  CHECK(message_of(recipe(convolution)).hint ==
        "move it before the flatten or dense layer; \"layers\" are the head of resnet20, and take its pooled "
        "features");
}

TEST_CASE("mistakes about a model file name the line") {
  const WithModel folder;
  CHECK(message_of(folder.recipe("zoo = \"resnet18\"\n")).what ==
        "recipe.toml:5: [model]: a model has \"zoo\" or \"file\", not both");
  CHECK(message_of(folder.recipe("head = false\n")).what == "recipe.toml:6: [model]: \"head\" needs \"zoo\"");
  fs::remove(folder.file);
  CHECK_THAT(message_of(folder.recipe()).what, StartsWith("recipe.toml:5: "));
}
