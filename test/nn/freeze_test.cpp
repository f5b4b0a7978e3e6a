// Freezing by name, and networks that are split after their frozen part.
#include "convoke/nn/freeze.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/layers.hpp"
#include "convoke/nn/layers/convolutions.hpp"
#include "convoke/nn/split.hpp"
#include "convoke/nn/zoo.hpp"
#include "experiment.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

Graph example() {
  Graph graph({3, 5, 5});
  const Symbol x = batch_norm(conv2d(input(graph), {.filters = 4, .kernel = 3}));
  dense(flatten(conv2d(x, {.filters = 2, .kernel = 1})), {.units = 3});
  return graph;
}

std::vector<std::string> frozen(std::vector<std::string> patterns) {
  Graph graph = example();
  freeze(graph, patterns);
  std::vector<std::string> names;
  for (const Node& node : graph.nodes()) {
    if (!node.options.trainable) names.push_back(node.name);
  }
  return names;
}

}  // namespace

TEST_CASE("nodes are frozen by name, by pattern, or as all nodes but the head") {
  using Names = std::vector<std::string>;
  CHECK(frozen({}).empty());
  CHECK(frozen({"conv2d_2"}) == Names{"conv2d_2"});
  CHECK(frozen({"conv2d_*"}) == Names{"conv2d_1", "conv2d_2"});
  CHECK(frozen({"*norm*", "dense_1"}) == Names{"batch_norm_1", "dense_1"});
  CHECK(frozen({"backbone"}) == Names{"conv2d_1", "batch_norm_1", "conv2d_2"});
  CHECK(frozen({"*"}).size() == 4);
  Graph activated =
      build_graph(Shape{4}, {{{"layer", "dense"}, {"units", 4}, {"name", "hidden"}, {"activation", "relu"}},
                             {{"layer", "dense"}, {"units", 3}, {"name", "head"}, {"activation", "relu"}}});
  const auto named = [&](const std::string& pattern) { return named_nodes(activated, pattern, "freeze"); };
  CHECK(named("hidden") == std::vector{activated.find("hidden.dense")});
  CHECK(named("before:head") == named("hidden"));
  CHECK(matches("a*b*c", "axxbc"));
  CHECK(!matches("a*b", "abc"));
  CHECK(!matches("conv2d", "conv2d_1"));
}

TEST_CASE("a frozen backbone has no backward steps, and the head's gradients do not change") {
  Graph graph = example();
  freeze(graph, std::vector<std::string>{"backbone"});
  CHECK(graph.trainable_count() == 18 * 3 + 3);
  check_graph(graph);
  const Experiment experiment(graph, {.micro_batch = 3});
  for (const PlanStep& step : experiment.network.steps()) {
    INFO(step.node << " " << step.what);
    CHECK((step.node == "dense_1" || !step.what.starts_with("backward")));
  }
}

TEST_CASE("patterns that match no node are refused") {
  CHECK(error_of([] { frozen({"conv2d_3"}); }) ==
        "freeze: no node with parameters is called \"conv2d_3\" (did you mean \"conv2d_1\"?)");
  CHECK(error_of([] { frozen({"flatten_1"}); }).starts_with("freeze: no node with parameters"));
  Graph head = build_graph(Shape{4}, {{{"layer", "dense"}, {"units", 3}}});
  CHECK(error_of([&] { freeze(head, std::vector<std::string>{"backbone"}); }) ==
        "freeze: there is no backbone before the only node with parameters");
}

namespace {

/// Adds a residual block whose branch is dropped at random, after two dropouts.
Symbol block(Symbol x) {
  x = relu(batch_norm(conv2d(dropout(x, 0.3), {.filters = 6, .kernel = 3})));
  const Symbol branch = silu(batch_norm(conv2d(dropout(x, 0.4), {.filters = 6, .kernel = 1})));
  return global_average_pool(add(x, stochastic_depth(branch, 0.5)));
}
Symbol head(Symbol x) { return dense(dropout(x, 0.5), {.units = 3}); }

Graph whole(const std::vector<std::string>& patterns) {
  Graph graph({2, 5, 5});
  head(block(input(graph)));
  freeze(graph, patterns);
  return graph;
}

std::vector<std::string> as_in_prediction(const Graph& graph) {
  const std::vector<bool> inference = inference_nodes(graph);
  std::vector<std::string> names;
  for (const Node& node : graph.nodes()) {
    if (node.index > 0 && inference[node.index] && node.layer->traits().draws_random)
      names.push_back(node.name);
  }
  return names;
}

}  // namespace

TEST_CASE("nodes in a frozen backbone draw no random numbers; nodes after the last frozen weights do") {
  using Names = std::vector<std::string>;
  CHECK(as_in_prediction(whole({})).empty());
  CHECK(as_in_prediction(whole({"backbone"})) == Names{"dropout_1", "dropout_2", "stochastic_depth_1"});
  CHECK(as_in_prediction(whole({"conv2d_1", "batch_norm_1"})) == Names{"dropout_1"});
  CHECK(as_in_prediction(whole({"conv2d_2", "batch_norm_2"})).empty());  // conv2d_1 is trained
  CHECK(as_in_prediction(whole({"*"})).size() == 4);                     // the head is frozen too
}

// Keras' guide to transfer learning: x = base_model(inputs, training=False), then dropout and a dense layer.
TEST_CASE("a frozen backbone trains its head as a backbone called with training = False does") {
  const Graph graph = whole({"backbone"});
  Experiment together(graph, {.micro_batch = 3});
  const Batch batch(graph, 3);

  Graph base({2, 5, 5});
  block(input(base));
  Experiment predicting(base, {.micro_batch = 3, .training = false});
  copy_parameters(together, predicting);
  const std::vector<double> features = predicting.run(batch).output;

  Graph rest(base.output_shape());
  Symbol x = input(rest);
  // random numbers depend on a node's position
  while (rest.nodes().size() < base.nodes().size()) x = identity(x);
  head(x);
  Experiment training(rest, {.micro_batch = 3});
  copy_parameters(together, training);
  Batch given = batch;
  given.input.assign(features.begin(), features.end());

  const Outcome found = together.run(batch), expected = training.run(given);
  check_equal(found, expected, 1e-6);
  CHECK(found.gradients.size() == 2);
}

// A network that is split after its frozen backbone.

namespace {

/// Returns the node after which the zoo model `name` is split when `patterns` are frozen.
std::string cut(const std::string& name, const std::vector<std::string>& patterns) {
  Graph graph = make_zoo_model(name);
  freeze(graph, resolve_parts(name, graph, patterns));
  return graph.node(frozen_prefix(graph)).name;
}

}  // namespace

TEST_CASE("a network is split after its frozen nodes, where a single value connects both parts") {
  CHECK(cut("resnet18", {"backbone"}) == "global_average_pool_1");
  CHECK(cut("resnet18", {"blocks:3"}) == "relu_7");  // stem 1, two in each block
  // The input of a block bypasses the frozen convolution within it.
  CHECK(cut("resnet18", {"blocks:3", "layer2.1.conv1"}) == "relu_7");
  CHECK(cut("mobilenet-v2", {"backbone"}) == "global_average_pool_1");  // before the dropout
  CHECK(cut("vgg16", {"backbone"}) == "flatten_1");
  CHECK(cut("resnet18", {"layer1.*"}) == "input");
  // Stochastic depth among frozen nodes is off; after a trained block it draws random numbers.
  CHECK(cut("efficientnet-b0", {"backbone"}) == "global_average_pool_17");
  CHECK(cut("convnext-tiny", {"backbone"}) == "global_average_pool_1");
  CHECK(cut("efficientnet-b0", {"blocks:3"}) == "add_1");
}

TEST_CASE(
    "a node that a later node shares is not split off; a frozen recurrent layer draws no random numbers") {
  const auto tied = [](bool frozen) {
    Graph graph(Shape{6});
    const Symbol a = dense(input(graph), {.units = 6});
    const Symbol b = dense(a, {.units = 6});
    dense(share(a, b), {.units = 2});
    freeze(graph, std::vector<std::string>{"dense_1"});
    if (frozen) freeze(graph, std::vector<std::string>{"dense_2"});
    return graph.node(frozen_prefix(graph)).name;
  };
  CHECK(tied(false) == "input");
  CHECK(tied(true) == "dense_3");  // the second use, which is frozen with the first
  for (const double rate : {0.0, 0.2}) {
    Graph graph = build_graph(Shape{5, 3}, {{{"layer", "lstm"}, {"units", 4}, {"dropout", rate}},
                                            {{"layer", "dense"}, {"units", 2}}});
    freeze(graph, std::vector<std::string>{"lstm_1"});
    CHECK(graph.node(frozen_prefix(graph)).name == "lstm_1");  // while frozen it drops nothing
    CHECK(first_not_fixed(graph) == "dense_1");
  }
}

TEST_CASE("both parts together have all parameters, and every node keeps its number") {
  Graph graph = make_zoo_model("mobilenet-v3-small", {.input = {}, .classes = 7});
  freeze(graph, resolve_parts("mobilenet-v3-small", graph, {"blocks:6"}));
  const std::size_t last = frozen_prefix(graph);
  const Graph prefix = prefix_of(graph, last), suffix = suffix_of(graph, last);
  CHECK(prefix.parameter_count() + suffix.parameter_count() == graph.parameter_count());
  CHECK(prefix.trainable_count() == 0);
  CHECK(suffix.trainable_count() == graph.trainable_count());
  CHECK(prefix.output_shape() == suffix.input_shape());
  CHECK(suffix.output_shape() == Shape{7});
  for (const Node& node : graph.nodes()) CHECK(suffix.find(node.name) == node.index);
}

TEST_CASE("both parts of EfficientNet train the head bit for bit as the whole network does") {
  Graph graph = make_zoo_model("efficientnet-b0", {.input = {3, 32, 32}, .classes = 4});
  freeze(graph, resolve_parts("efficientnet-b0", graph, {"backbone"}));
  const std::size_t last = frozen_prefix(graph);
  Experiment whole(graph, {.micro_batch = 4});
  Experiment prefix(prefix_of(graph, last), {.micro_batch = 4, .training = false});
  Experiment suffix(suffix_of(graph, last), {.micro_batch = 4});
  for (Experiment* part : {&prefix, &suffix}) copy_parameters(whole, *part);
  const Batch batch(graph, 4);
  Batch features = batch;
  const std::vector<double> output = prefix.run(batch).output;
  features.input.assign(output.begin(), output.end());
  const Outcome expected = whole.run(batch), found = suffix.run(features);
  CHECK(found.output == expected.output);
  CHECK(found.loss == expected.loss);
  CHECK(found.gradients == expected.gradients);
  CHECK(found.gradients.size() == 2);
}
