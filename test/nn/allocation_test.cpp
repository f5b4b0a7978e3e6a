// After the first step, a training step allocates nothing.
#include "convoke/nn/backend.hpp"
#include "convoke/nn/layers.hpp"
#include "convoke/nn/zoo.hpp"
#include "experiment.hpp"
#include "support/catch.hpp"
#include "support/counted_allocations.hpp"

using namespace convoke::nn;
using convoke::test::allocations;
using convoke::test::primitive_executions;

namespace {

/// Returns the allocations of `steps` training steps after a first one. `last`: the end of the gradients that
/// are ready.
long allocations_of_steps(Experiment& experiment, const Batch& batch, int steps,
                          std::size_t* last = nullptr) {
  const StepKey key = batch.key();
  const Network::Ready ready = [&](std::size_t end) {
    if (last != nullptr) *last = end;
  };
  experiment.working.refresh();
  const auto step = [&] {
    std::copy(batch.input.begin(), batch.input.end(), experiment.network.input().begin());
    std::copy(batch.tokens.begin(), batch.tokens.end(), experiment.network.tokens().begin());
    experiment.network.forward(key);
    experiment.network.loss(batch.labels, std::ssize(batch.labels));
    experiment.network.backward(ready);
  };
  step();
  const long before = allocations();
  for (int i = 0; i < steps; ++i) step();
  return allocations() - before;
}

}  // namespace

TEST_CASE("a step allocates nothing") {
  Graph graph({3, 12, 12});
  const Symbol x = max_pool(relu(batch_norm(conv2d(input(graph), {.filters = 20, .kernel = 3}))));
  Symbol y = relu(conv2d(x, {.filters = 20, .kernel = 3, .padding = Padding::same()}));
  y = batch_norm(conv2d(y, {.filters = 20, .kernel = 3, .padding = Padding::same()}));
  y = sigmoid(average_pool(max_pool(relu(add(y, x)), {.size = 3, .stride = 1})));
  y = batch_norm(dropout(dense(dropout(flatten(y), 0.2), {.units = 30}), 0.5));
  softmax(dense(softmax(relu(y)), {.units = 5}));
  Experiment experiment(graph, {.micro_batch = 4, .micro_batches = 2});
  std::size_t last = 0;
  const long executions_before = primitive_executions();
  CHECK(allocations_of_steps(experiment, Batch(graph, 8), 3, &last) == 0);
  CHECK(primitive_executions() > executions_before + 40);  // proves that the wrapper was active
  CHECK(last == experiment.layout->size());
  const long before_proof = allocations();
  const std::vector<int> proof(3);
  CHECK(allocations() > before_proof);  // proves that operator new was counted
}

TEST_CASE("a step of recurrent layers allocates nothing") {
  Graph graph(tokens(6));
  Symbol x = embedding(input(graph), {.vocabulary = 4, .units = 8});
  x = lstm(x, input(graph), {.units = 5, .sequences = true, .bidirectional = true, .dropout = 0.2});
  dense(gru(x, {.units = 16, .recurrent_dropout = 0.2}), {.units = 3});
  Experiment experiment(graph, {.micro_batch = 4, .micro_batches = 2});
  CHECK(allocations_of_steps(experiment, Batch(graph, 8), 3) == 0);
}

// Small networks with short steps, which together contain most layers of the zoo, in fp32 and bf16.
TEST_CASE("a step of the zoo allocates nothing") {
  for (const std::string name :
       {"mobilenet-v3-small", "squeezenet1.1", "shufflenet-v2", "resnet20", "leaf-cnn"}) {
    for (const Precision precision : {Precision::kFloat32, Precision::kBfloat16}) {
      if (precision == Precision::kBfloat16 && !backend().native_bf16 && !backend().emulates_bf16) continue;
      const Graph graph = make_zoo_model(name, {.input = convoke::Shape{3, 32, 32}, .classes = 10});
      Experiment experiment(graph, {.micro_batch = 2, .precision = precision});
      CAPTURE(name, precision == Precision::kBfloat16);
      CHECK(allocations_of_steps(experiment, Batch(graph, 2), 1) == 0);
    }
  }
}

TEST_CASE("inference allocates nothing") {
  Graph graph({1, 8, 8});
  softmax(dense(flatten(relu(batch_norm(conv2d(input(graph), {.filters = 16, .kernel = 3})))), {.units = 5}));
  Experiment experiment(graph, {.micro_batch = 4, .training = false});
  experiment.network.forward();
  const long before = allocations();
  experiment.network.forward();
  const long after = allocations();
  CHECK(after == before);
}
