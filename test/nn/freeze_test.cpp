// Freezing by name.
#include "convoke/nn/freeze.hpp"

#include "convoke/nn/layers/batch_norm.hpp"
#include "convoke/nn/layers/conv2d.hpp"
#include "convoke/nn/layers/dense.hpp"
#include "convoke/nn/layers/structure.hpp"
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

TEST_CASE("nodes are frozen by name, by pattern, or all but the head") {
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

TEST_CASE("a frozen backbone costs no backward and gives the head's gradients as before") {
  Graph graph = example();
  freeze(graph, std::vector<std::string>{"backbone"});
  CHECK(graph.trainable_count() == 18 * 3 + 3);
  check_graph(graph, {.lane = 3});
  const Experiment experiment(graph, {.lane = 3});
  for (const PlanStep& step : experiment.network.steps()) {
    INFO(step.node << " " << step.what);
    CHECK((step.node == "dense_1" || !step.what.starts_with("backward")));
  }
}

TEST_CASE("freezing what does not exist") {
  CHECK(error_of([] { frozen({"conv2d_3"}); }) ==
        "freeze: no node with parameters is called \"conv2d_3\" (did you mean \"conv2d_1\"?)");
  CHECK(error_of([] { frozen({"flatten_1"}); }).starts_with("freeze: no node with parameters"));
}
