// Nodes with their own learning rate, and nodes that were frozen at first.
#include "convoke/nn/freeze.hpp"

#include "convoke/engine/canonical.hpp"
#include "convoke/engine/step_engine.hpp"
#include "engine/engine_options.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/tiny.hpp"
#include "support/world.hpp"

using namespace convoke;
using namespace convoke::engine;

namespace {

nn::Graph network() {
  return nn::build_graph(Shape{1, 8, 8},
                         {{{"layer", "conv2d"}, {"filters", 5}, {"kernel", 3}, {"name", "conv"}},
                          {{"layer", "flatten"}},
                          {{"layer", "dense"}, {"units", 9}, {"name", "hidden"}},
                          {{"layer", "tanh"}},
                          {{"layer", "dense"}, {"units", 4}, {"name", "last"}},
                          {{"layer", "softmax"}}});
}

nn::Graph grouped(const std::vector<nn::RateGroup>& groups) {
  nn::Graph graph = network();
  nn::apply(groups, graph);
  return graph;
}

struct RateGroupRun {
  std::string optimizer = "sgd";
  double rate = 0.5;
  std::int64_t steps_before = 0;
  int steps = 1;
  int threads = 2;
};

/// Returns the canonical parameters after some steps.
std::vector<float> trained(const nn::Graph& graph, const mpi::Communicator& group, const RateGroupRun& run) {
  const EngineTask task(32, {{"name", run.optimizer}}, graph);
  StepEngine engine = task.engine(options(Reduction::kExact, run.threads), group);
  engine.set_steps_done(run.steps_before);
  for (int i = 0; i < run.steps; ++i) engine.step(0, task.ids, run.rate);
  return unpack(canonical_parameters(graph), engine.layout(), engine.parameters());
}

/// Returns the values of the node `name` from canonical values.
std::vector<float> of_node(const std::string& name, const std::vector<float>& canonical) {
  return tiny::of_node(network(), name, canonical);
}

}  // namespace

TEST_CASE("a step of SGD with factors on the rate, computed by hand") {
  const std::vector<float> before = trained(network(), world(), {.steps = 0});
  const std::vector<float> plain = trained(network(), world(), {.rate = 1});  // w - g
  const std::vector<float> found =
      trained(grouped({{{"conv", "hidden"}, 0.25}, {{"conv"}, 4}}), world(), {.rate = 1});
  const auto check_node = [&](const std::string& node, double factor) {
    const std::vector<float> w = of_node(node, before), stepped = of_node(node, plain);
    const std::vector<float> v = of_node(node, found);
    double moved = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double gradient = static_cast<double>(w[i]) - static_cast<double>(stepped[i]);
      moved += std::abs(gradient);
      CHECK(static_cast<double>(v[i]) ==
            Approx(static_cast<double>(w[i]) - factor * gradient).epsilon(0).margin(5e-7));
    }
    CHECK(moved > 1e-3);
  };
  check_node("conv", 4);  // the later group counts
  check_node("hidden", 0.25);
  check_node("last", 1);
}

TEST_CASE("with every optimizer a factor changes the rate of its nodes alone") {
  const nn::Graph graph = grouped({{{"hidden"}, 0.25}});
  for (const std::string& name : optim::optimizer_names()) {
    INFO(name);
    for (const int threads : {1, 2}) {
      const auto at = [&](const nn::Graph& of, double rate) {
        return trained(of, world(), {.optimizer = name, .rate = rate, .threads = threads});
      };
      const std::vector<float> fast = at(network(), 0.02), slow = at(network(), 0.005);
      const std::vector<float> found = at(graph, 0.02);
      CHECK(of_node("hidden", slow) != of_node("hidden", fast));
      CHECK(of_node("hidden", found) == of_node("hidden", slow));
      CHECK(of_node("conv", found) == of_node("conv", fast));
      CHECK(of_node("last", found) == of_node("last", fast));
    }
  }
}

TEST_CASE(
    "the optimizer counts the steps of nodes that were frozen at first from their first training step") {
  nn::Graph graph = network();
  graph.set_options(graph.find("hidden"), {.frozen_steps = 100});
  // Adam corrects its first steps for averages that begin at 0; after 100 steps the correction differs.
  const std::vector<float> found =
      trained(graph, world(), {.optimizer = "adam", .rate = 0.01, .steps_before = 100});
  const std::vector<float> fresh = trained(network(), world(), {.optimizer = "adam", .rate = 0.01});
  const std::vector<float> late =
      trained(network(), world(), {.optimizer = "adam", .rate = 0.01, .steps_before = 100});
  CHECK(of_node("hidden", found) == of_node("hidden", fresh));
  CHECK(of_node("conv", found) == of_node("conv", late));
  CHECK(of_node("hidden", fresh) != of_node("hidden", late));
}

TEST_CASE("invalid groups are refused") {
  nn::Graph graph = network();
  CHECK(error_of([&] {
          nn::apply(std::vector<nn::RateGroup>{{{"conf"}, 0.5}}, graph);
        }) == "train.groups: no node with parameters is called \"conf\" (did you mean \"conv\"?)");
  const auto refusal = [](const Settings& settings) {
    return error_of([&] { nn::RateGroup::read(settings); });
  };
  CHECK(refusal({{"nodes", "conv"}, {"learning_rate_factor", 0}}) ==
        "train.groups: \"learning_rate_factor\" is 0");
  CHECK(refusal({{"nodes", "conv"}, {"learning_rate_factor", -1.0}}) ==
        "train.groups: \"learning_rate_factor\" must be above 0, but is -1.0");
  CHECK_THAT(refusal({{"nodes", "conv"}}), Contains("learning_rate_factor"));
}
