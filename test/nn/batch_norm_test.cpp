// Each micro-batch is a separate batch-norm group, whatever else runs in the same plan.
#include "convoke/nn/layers.hpp"
#include "experiment.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

Graph with_batch_norms(std::int64_t channels) {
  Graph graph({3, 6, 7});
  Symbol x = conv2d(input(graph), {.filters = channels, .kernel = 3, .padding = Padding::same()});
  x = max_pool(relu(batch_norm(x)));
  x = relu(batch_norm(conv2d(x, {.filters = channels, .kernel = 2})));
  x = dropout(batch_norm(dense(flatten(x), {.units = 9})), 0.3);
  dense(x, {.units = 4});
  return graph;
}

}  // namespace

TEST_CASE("a plan of several micro-batches equals the reference for each micro-batch") {
  for (const std::int64_t channels : {3, 16, 20}) {
    for (const std::int64_t micro_batches : {1, 3}) {
      check_graph(with_batch_norms(channels), {.micro_batch = 4, .micro_batches = micro_batches}, 5e-5);
    }
  }
}

TEST_CASE("statistics are weighted by their share of the batch, and the variance is biased") {
  Graph graph({1, 1, 2});
  dense(flatten(batch_norm(input(graph))), {.units = 2});
  Experiment experiment(graph, {.micro_batch = 2, .micro_batches = 2});
  Batch batch(graph, 4);
  batch.input = {1, 2, 3, 6, /* next micro-batch */ 0, 0, 4, 4};
  const Outcome outcome = experiment.run(batch, 8);  // half of a step of 8 samples
  // Micro-batches of 4 values: means 3 and 2, variances (4 + 1 + 0 + 9) / 4 and 4; each counts 2 / 8.
  CHECK(outcome.gradients.at("batch_norm_1.running_mean")[0] == Approx((3 + 2) * 2.0 / 8));
  CHECK(outcome.gradients.at("batch_norm_1.running_variance")[0] == Approx((3.5 + 4) * 2.0 / 8));
}

TEST_CASE(
    "the variance of values far from zero, and of a constant, is accurate, also if it is synchronized") {
  for (const bool synchronized : {false, true}) {
    Graph graph({1, 4, 4});
    dense(flatten(batch_norm(input(graph), {.synchronized = synchronized})), {.units = 2});
    const std::int64_t micro_batches = synchronized ? 2 : 1;
    Experiment experiment(graph, {.micro_batch = 4 / micro_batches, .micro_batches = micro_batches});
    Batch batch(graph, 4);
    for (std::size_t i = 0; i < batch.input.size(); ++i)
      batch.input[i] = 10000.0F + (i % 2 == 0 ? 1.0F : -1.0F);
    CHECK(experiment.run(batch).gradients.at("batch_norm_1.running_variance")[0] == Approx(1));
    for (float& value : batch.input) value = 1234.5F;
    const Outcome constant = experiment.run(batch);
    CHECK(constant.gradients.at("batch_norm_1.running_variance")[0] <= (synchronized ? 1e-6 : 0));
    CHECK(std::isfinite(constant.loss));
  }
}
