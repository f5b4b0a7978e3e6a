// Freezing by name.
#include "convoke/nn/freeze.hpp"

#include "convoke/nn/layers.hpp"
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
