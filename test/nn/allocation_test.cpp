// After the first step, a training step allocates nothing.
#include "convoke/nn/backend.hpp"
#include "convoke/nn/layers/activation.hpp"
#include "convoke/nn/layers/batch_norm.hpp"
#include "convoke/nn/layers/conv2d.hpp"
#include "convoke/nn/layers/dense.hpp"
#include "convoke/nn/layers/dropout.hpp"
#include "convoke/nn/layers/embedding.hpp"
#include "convoke/nn/layers/merge.hpp"
#include "convoke/nn/layers/pool.hpp"
#include "convoke/nn/layers/recurrent.hpp"
#include "convoke/nn/layers/reshape.hpp"
#include "convoke/nn/layers/softmax.hpp"
#include "convoke/nn/zoo.hpp"
#include "experiment.hpp"
#include "support/catch.hpp"
#include "support/counted_allocations.hpp"

using namespace convoke::nn;
using convoke::test::allocations;
using convoke::test::primitive_executions;

TEST_CASE("a step allocates nothing") {
  Graph graph({3, 12, 12});
  const Symbol x = max_pool(relu(batch_norm(conv2d(input(graph), {.filters = 20, .kernel = 3}))));
  Symbol y = relu(conv2d(x, {.filters = 20, .kernel = 3, .padding = Padding::same()}));
  y = batch_norm(conv2d(y, {.filters = 20, .kernel = 3, .padding = Padding::same()}));
  y = sigmoid(average_pool(max_pool(relu(add(y, x)), {.size = 3, .stride = 1})));
  y = batch_norm(dropout(dense(dropout(flatten(y), 0.2), {.units = 30}), 0.5));
  softmax(dense(softmax(relu(y)), {.units = 5}));
  Experiment experiment(graph, {.micro_batch = 4, .micro_batches = 2});
  const Batch batch(graph, 8);
  const StepKey key = batch.key();
  std::size_t last = 0;
  const Network::Ready ready = [&](std::size_t end) { last = end; };
  const auto step = [&] {
    std::copy(batch.input.begin(), batch.input.end(), experiment.network.input().begin());
    experiment.network.forward(key);
    experiment.network.loss(batch.labels, 8);
    experiment.network.backward(ready);
  };
  step();
  const long allocations_before = allocations(), executions_before = primitive_executions();
  for (int i = 0; i < 3; ++i) step();
  const long allocations_after = allocations(), executions_after = primitive_executions();
  CHECK(allocations_after == allocations_before);
  CHECK(executions_after > executions_before + 30);  // proves that the wrapper was active
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
  const Batch batch(graph, 8);
  const StepKey key = batch.key();
  std::copy(batch.tokens.begin(), batch.tokens.end(), experiment.network.tokens().begin());
  const Network::Ready ready = [](std::size_t) {};
  const auto step = [&] {
    experiment.network.forward(key);
    experiment.network.loss(batch.labels, 8);
    experiment.network.backward(ready);
  };
  step();
  const long before = allocations();
  for (int i = 0; i < 3; ++i) step();
  const long after = allocations();
  CHECK(after == before);
}

// Small networks with short steps, which together contain most layers of the zoo, in fp32 and bf16.
TEST_CASE("a step of the zoo allocates nothing") {
  for (const std::string name :
       {"mobilenet-v3-small", "squeezenet1.1", "shufflenet-v2", "resnet20", "leaf-cnn"}) {
    for (const Precision precision : {Precision::kFloat32, Precision::kBfloat16}) {
      if (precision == Precision::kBfloat16 && !backend().native_bf16 && !backend().emulates_bf16) continue;
      const Graph graph = make_zoo_model(name, {.input = convoke::Shape{3, 32, 32}, .classes = 10});
      Experiment experiment(graph, {.micro_batch = 2, .precision = precision});
      const Batch batch(graph, 2);
      const StepKey key = batch.key();
      experiment.working.refresh();
      const Network::Ready ready = [](std::size_t) {};
      const auto step = [&] {
        std::copy(batch.input.begin(), batch.input.end(), experiment.network.input().begin());
        experiment.network.forward(key);
        experiment.network.loss(batch.labels, 2);
        experiment.network.backward(ready);
      };
      step();
      const long before = allocations();
      step();
      const long after = allocations();
      CAPTURE(name, precision == Precision::kBfloat16);
      CHECK(after == before);
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
