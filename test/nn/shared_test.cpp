// Parameters that two nodes share, that are not trained, or that have penalties.
#include "around.hpp"
#include "convoke/core/error.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/layers.hpp"
#include "experiment.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

constexpr PlanOptions kTwoMicroBatches{.micro_batch = 3, .micro_batches = 2};

bool has_step(const Network& network, const std::string& node, const std::string& what) {
  for (const PlanStep& step : network.steps()) {
    if (step.node == node && step.what.starts_with(what)) return true;
  }
  return false;
}

Settings layer(std::string type, std::initializer_list<Settings::Entry> more) {
  Settings settings{{"layer", std::move(type)}};
  for (const auto& [key, value] : more) settings.set(key, value);
  return settings;
}

}  // namespace

TEST_CASE("a layer used several times: one set of parameters, the sum of the gradients") {
  for (const std::int64_t channels : {3, 16, 20}) {
    Graph graph({channels, 6, 5});
    const Symbol first = conv2d(input(graph), {.filters = channels, .kernel = 3, .padding = Padding::same()});
    const Symbol second = share(first, tanh(first));  // recurrent
    const Symbol third = share(second, average_pool(second));
    const Symbol head = dense(global_average_pool(first), {.units = 3});
    add(add(head, share(head, global_average_pool(second))), share(head, global_average_pool(third)));
    CHECK(graph.parameter_count() == channels * channels * 9 + channels + 3 * channels + 3);
    CHECK(ParameterLayout(graph, 3).slots().size() == 4);
    check_graph(graph, kTwoMicroBatches);
    check_bf16(graph, {.micro_batch = 8, .micro_batches = 2}, 0.04);
  }
}

TEST_CASE("a dense layer shared between a flattened image and a vector") {
  for (const bool image_first : {true, false}) {
    Graph graph({16, 2, 2});
    const Symbol image = flatten(conv2d(input(graph), {.filters = 16, .kernel = 1}));
    const Symbol vector = dense(flatten(input(graph)), {.units = 16 * 2 * 2});
    const Symbol owner = dense(image_first ? image : vector, {.units = 3});
    add(owner, share(owner, image_first ? vector : image));
    check_graph(graph, kTwoMicroBatches);
    check_bf16(graph, {.micro_batch = 8}, 0.04);
  }
}

TEST_CASE("convolutions that share weights are not fused with their pooling") {
  Graph graph({3, 8, 8});
  const Symbol a = conv2d(input(graph), {.filters = 16, .kernel = 3});
  const Symbol b = share(a, input(graph));
  dense(flatten(add(max_pool(relu(a)), max_pool(relu(b)))), {.units = 3});
  check_graph(graph, kTwoMicroBatches);
}

TEST_CASE("frozen layers have no gradients and no steps, and backward ends at the first trained layer") {
  Graph graph({3, 8, 8});
  Symbol x = conv2d(input(graph), {.filters = 16, .kernel = 3});
  x = relu(batch_norm(x));
  const Symbol middle = conv2d(x, {.filters = 20, .kernel = 3});
  const Symbol late = conv2d(tanh(middle), {.filters = 16, .kernel = 1});
  const Symbol norm = batch_norm(late);
  dense(flatten(max_pool(relu(norm))), {.units = 3});
  for (const std::size_t node : {std::size_t{1}, std::size_t{2}, late.node, norm.node})
    graph.set_options(node, {.trainable = false});
  CHECK(graph.trainable_count() == 16 * 20 * 9 + 20 + 64 * 3 + 3);
  const ParameterLayout layout(graph, 3);
  CHECK(layout.gradient_size() == layout.trainable_size());  // both batch norms are frozen
  CHECK(layout.size() > layout.gradient_size());
  for (const ParameterSlot& slot : layout.slots()) {
    CHECK(slot.spec.frozen == (slot.offset >= layout.gradient_size()));
    CHECK(!slot.spec.statistic());
  }
  check_graph(graph, kTwoMicroBatches);
  check_bf16(graph, {.micro_batch = 8, .micro_batches = 2}, 0.25);
  const Experiment experiment(graph, kTwoMicroBatches);
  for (const char* node : {"conv2d_1", "batch_norm_1"})
    CHECK(!has_step(experiment.network, node, "backward"));
  CHECK(has_step(experiment.network, "conv2d_2", "backward weights"));
  CHECK(!has_step(experiment.network, "conv2d_2", "backward data"));
  CHECK(has_step(experiment.network, "conv2d_3", "backward data"));
  CHECK(!has_step(experiment.network, "conv2d_3", "backward weights"));
}

TEST_CASE("frozen layers with statistics; a frozen head; shared and frozen layers; all layers frozen") {
  Graph graph({3, 6, 6});
  Symbol x = relu(batch_norm(conv2d(input(graph), {.filters = 16, .kernel = 3})));
  const Symbol frozen = conv2d(x, {.filters = 16, .kernel = 3, .padding = Padding::same()});
  const Symbol again = share(frozen, tanh(frozen));
  const Symbol head = dense(flatten(again), {.units = 3});
  graph.set_options(frozen.node, {.trainable = false});
  graph.set_options(head.node, {.trainable = false});
  check_graph(graph, kTwoMicroBatches);
  const ParameterLayout layout(graph, 3);
  CHECK(layout.trainable_size() < layout.gradient_size());
  CHECK(layout.gradient_size() < layout.size());

  Graph whole({3, 6, 6});
  dense(flatten(conv2d(input(whole), {.filters = 4, .kernel = 3})), {.units = 3});
  for (const std::size_t node : {1, 3}) whole.set_options(node, {.trainable = false});
  check_graph(whole, kTwoMicroBatches);
}

TEST_CASE("a batch norm used twice normalizes each use by its own moments, and keeps the mean of both") {
  for (const std::int64_t channels : {3, 20}) {
    for (const bool synchronized : {false, true}) {
      Graph graph({2, 5, 4});
      const Symbol a = conv2d(input(graph), {.filters = channels, .kernel = 3});
      const Symbol b = tanh(conv2d(input(graph), {.filters = channels, .kernel = 3}));
      const Symbol first = batch_norm(a, {.synchronized = synchronized});
      const Symbol second{&graph, graph.share(first.node, {b.node})};
      dense(flatten(add(first, second)), {.units = 3});
      check_graph(graph, synchronized ? kMicroBatchOf3 : kTwoMicroBatches);
    }
  }
}

TEST_CASE("l1 and l2 apply to weights, not to biases or a batch norm") {
  const Graph graph = build_graph({3, 4, 4}, {layer("conv2d", {{"filters", 2}, {"kernel", 1}, {"l2", 5e-4}}),
                                              layer("batch_norm", {{"l1", 0.5}}), layer("flatten", {}),
                                              layer("dense", {{"units", 2}, {"l1", 1e-3}, {"l2", 1}})});
  for (const Node& node : graph.nodes()) {
    for (const ParameterSpec& spec : node.parameters) {
      INFO(node.name << "." << spec.name);
      CHECK(spec.l1 == (node.name == "dense_1" && spec.name == "weight" ? 1e-3 : 0));
      CHECK(spec.l2 == (spec.name != "weight" ? 0 : node.name == "dense_1" ? 1 : 5e-4));
    }
  }
}

TEST_CASE("shared layers, penalties and frozen layers are written and read back") {
  const std::vector<Settings> layers{
      layer("dense", {{"units", 4}, {"name", "a"}, {"activation", "tanh"}, {"l2", 1e-4}}),
      layer("shared", {{"of", "a"}, {"name", "b"}, {"activation", "relu"}}),
      layer("shared", {{"of", "a.dense"}, {"inputs", list({"a"})}}),
      layer("add", {{"inputs", list({"b", "dense_3"})}}),
      layer("dense", {{"units", 3}, {"trainable", false}, {"l1", 0.25}})};
  const Graph graph = build_graph({4}, layers);
  CHECK(graph.parameter_count() == 4 * 4 + 4 + 4 * 3 + 3);
  CHECK(graph.trainable_count() == 20);
  CHECK(graph.owner(graph.node(graph.find("dense_3"))).name == "a.dense");
  CHECK_THAT(graph.summary(), Contains("(parameters of a.dense)"));
  const std::vector<Settings> described = describe_graph(graph);
  const Graph again = build_graph({4}, described);
  CHECK(describe_graph(again) == described);
  CHECK(again.summary() == graph.summary());
  CHECK(described[2] == layer("shared", {{"name", "b.shared"}, {"inputs", list({"a"})}, {"of", "a.dense"}}));
  CHECK(described.back() == layer("dense", {{"name", "dense_4"},
                                            {"inputs", list({"add_1"})},
                                            {"units", 3},
                                            {"bias", true},
                                            {"trainable", false},
                                            {"l1", 0.25}}));
}

TEST_CASE("a shared layer may have its input's name in front of a dot, as separable convolutions of Keras") {
  const Graph graph =
      build_graph({6, 4}, {layer("conv1d", {{"filters", 4}, {"kernel", 1}, {"name", "a.first"}}),
                           layer("conv1d", {{"filters", 4}, {"kernel", 1}, {"name", "a"}}),
                           layer("shared", {{"of", "a"}, {"name", "b"}})});
  CHECK(graph.owner(graph.node(graph.find("b"))).name == "a");
}

TEST_CASE("errors in sharing and in the keys of every layer name the place and the fix") {
  const Settings a = layer("dense", {{"units", 5}, {"name", "a"}});
  CHECK(refusal({4}, {a, layer("shared", {{"of", "a"}})}) ==
        "recipe.toml:7: dense_2 (dense): its input (N, 5) needs a weight of shape (5, 5), but that of a has "
        "(5, 4) | share a layer only between inputs with the same number of channels or features");
  CHECK(refusal({4}, {a, layer("shared", {{"of", "aa"}})}) ==
        "recipe.toml:7: no node is called \"aa\" (did you mean \"a\"?) | nodes so far: input, a");
  CHECK(refusal({4}, {a, layer("shared", {{"of", "input"}})}) ==
        "recipe.toml:7: \"input\" is not a layer and cannot be shared | ");
  CHECK(refusal({4}, {a, layer("shared", {{"of", "a"}, {"units", 3}})})
            .starts_with("recipe.toml:7: layer \"shared\": unknown key \"units\""));
  CHECK(refusal({4}, {layer("dense", {{"units", 5}, {"l2", -1}})}) ==
        "recipe.toml:7: layer \"dense\": \"l2\" must be at least 0, but is -1 | l2: penalty l2 Σw² on its "
        "weights");
  CHECK(refusal({4}, {layer("relu", {{"trainable", "no"}})})
            .starts_with("recipe.toml:7: layer \"relu\": \"trainable\""));
}

TEST_CASE("an error in a network of 200 layers names its node, the shapes and the line") {
  std::vector<Settings> layers;
  for (int i = 0; i < 99; ++i) {
    layers.push_back(layer("conv2d", {{"filters", 8}, {"kernel", 3}, {"padding", "same"}}));
    layers.push_back(layer("batch_norm", {}));
  }
  const auto with = [&](Settings last) {
    std::vector<Settings> all = layers;
    all.push_back(std::move(last));
    return refusal({3, 9, 9}, all);
  };
  CHECK(with(layer("dense", {{"units", 2}})) ==
        "recipe.toml:7: dense_1 (dense): needs a vector (N, F), but its input is (N, 8, 9, 9) | "
        "put a flatten or global_average_pool layer before it");
  CHECK(with(layer("add", {{"inputs", list({"conv2d_7", "input"})}})) ==
        "recipe.toml:7: add_1 (add): its inputs have different shapes, (N, 8, 9, 9) and (N, 3, 9, 9) | "
        "give both one shape, for example with a 1 x 1 convolution on the shorter path");
  CHECK(with(layer("relu", {{"inputs", list({"conv2d_77", "conv2d_78"})}})) ==
        "recipe.toml:7: relu_1 (relu): needs one input, but has 2: (N, 8, 9, 9), (N, 8, 9, 9) | "
        "join them before it with a concat or add layer");
  const std::string unknown = with(layer("relu", {{"inputs", list({"conv2d77"})}}));
  CHECK(unknown.starts_with("recipe.toml:7: no node is called \"conv2d77\" (did you mean \"conv2d_"));
  CHECK_THAT(unknown, Contains("the last of 199 nodes so far: conv2d_94"));
  CHECK_THAT(unknown, !Contains("conv2d_93"));
}
