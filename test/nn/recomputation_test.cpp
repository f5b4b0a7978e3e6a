// Values that large plans compute again in backward.
#include "convoke/nn/backend.hpp"
#include "convoke/nn/zoo.hpp"
#include "experiment.hpp"
#include "layers.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

/// Returns a graph with batch norms whose output is 40 MiB per micro-batch in fp32: with ReLU, silu,
/// alone, with two readers, and one after another, so that a recomputation reads the result of another one.
Graph large() {
  Graph graph({3, 128, 128});
  const Conv2dOptions point{.filters = 32, .kernel = 1, .bias = false};
  Symbol x = relu(batch_norm(conv2d(input(graph), point)));
  Symbol y = silu(batch_norm(conv2d(x, point)));
  y = batch_norm(batch_norm(conv2d(y, point)));
  x = relu(add(conv2d(y, point), x));
  x = conv2d(relu6(batch_norm(conv2d(x, point))), point);
  dense(global_average_pool(x), {.units = 4});
  return graph;
}

long recomputations(const Network& network) {
  const std::vector<PlanStep> steps = network.steps();
  return std::count_if(steps.begin(), steps.end(),
                       [](const PlanStep& step) { return step.what.starts_with("again"); });
}

void check_recomputation(Precision precision, std::int64_t micro_batch, double tolerance) {
  const Graph graph = large();
  Experiment two(graph, {.micro_batch = micro_batch, .micro_batches = 2, .precision = precision}),
      one(graph, {.micro_batch = micro_batch, .precision = precision});
  CHECK(recomputations(one.network) == 0);
  CHECK(recomputations(two.network) == 5);
  CHECK(static_cast<double>(two.network.activation_bytes()) <
        1.6 * static_cast<double>(one.network.activation_bytes()));

  const Outcome together = two.run(Batch(graph, 2 * micro_batch));
  check_equal(together, one_by_one(one, graph, micro_batch, 2), tolerance);
  // The second run gives the same bits, so it does not depend on the first.
  check_equal(two.run(Batch(graph, 2 * micro_batch)), together, 0);
}

}  // namespace

TEST_CASE("a large plan computes batch norms again, and trains as small plans that keep them do") {
  check_recomputation(Precision::kFloat32, 4, 1e-5);
}

TEST_CASE("a large plan computes batch norms again: bf16") {
  if (!backend().native_bf16 && !backend().emulates_bf16) return;
  check_recomputation(Precision::kBfloat16, 8, 1e-2);
}

TEST_CASE("with low memory a plan has the same bits in less memory") {
  std::vector<Graph> graphs{large()};
  // With small pictures and many channels, copies of weights would take most of the memory on some
  // processors.
  for (const char* name : {"resnet20", "densenet121", "efficientnet-b0", "convnext-tiny"})
    graphs.push_back(make_zoo_model(name, {.input = {3, 64, 64}, .classes = 5}));
  for (const Graph& graph : graphs) {
    INFO("a graph of " << graph.nodes().size() << " nodes");
    for (const Precision precision : {Precision::kFloat32, Precision::kBfloat16}) {
      if (precision == Precision::kBfloat16 && !backend().native_bf16) continue;
      PlanOptions options{.micro_batch = 2, .micro_batches = 2, .precision = precision};
      Experiment normal(graph, options);
      options.low_memory = true;
      Experiment low(graph, options);
      CHECK(10 * low.network.activation_bytes() < 8 * normal.network.activation_bytes());
      const Outcome expected = normal.run(Batch(graph, 4));
      check_equal(low.run(Batch(graph, 4)), expected, 0);
      check_equal(low.run(Batch(graph, 4)), expected, 0);
    }
  }
}
