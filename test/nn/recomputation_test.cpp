// Values that large plans compute again in backward.
#include "convoke/core/finite.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/nn/layers.hpp"
#include "convoke/nn/zoo.hpp"
#include "experiment.hpp"
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

/// The result of a training step.
struct StepResult {
  double loss = 0;
  std::vector<float> output, gradients;  ///< gradients: the arena
  friend bool operator==(const StepResult&, const StepResult&) = default;
};

StepResult step_of(Network& network, const ParameterLayout& layout, const AlignedBuffer<float>& parameters,
                   const Batch& batch) {
  AlignedBuffer<float> gradients(layout.size());
  network.bind(parameters.data(), gradients.data());
  std::copy(batch.input.begin(), batch.input.end(), network.input().begin());
  std::copy(batch.tokens.begin(), batch.tokens.end(), network.tokens().begin());
  network.forward(batch.key());
  StepResult result;
  result.output.assign(network.output().begin(), network.output().end());
  result.loss = network.loss(batch.labels, network.samples()).loss;
  network.backward([](std::size_t) {});
  result.gradients.assign(gradients.span().begin(), gradients.span().end());
  return result;
}

/// CHECKs that a plan with low memory has the same bits, all finite, in at most this part of the memory.
void check_low_memory(const Graph& graph, double part, Precision precision = Precision::kFloat32) {
  PlanOptions options{.micro_batch = 2, .micro_batches = 2, .precision = precision};
  const auto layout = std::make_shared<const ParameterLayout>(graph, options.micro_batch,
                                                              ConvolutionChoice::kAuto, precision);
  const AlignedBuffer<float> parameters = random_parameters(*layout);
  Network normal(graph, layout, options);
  options.low_memory = true;
  Network low(graph, layout, options);
  CHECK(static_cast<double>(low.activation_bytes()) <= part * static_cast<double>(normal.activation_bytes()));
  const Batch batch(graph, 4);
  const StepResult expected = step_of(normal, *layout, parameters, batch);
  CHECK(std::isfinite(expected.loss));
  CHECK(all_finite(std::span(expected.gradients)));
  // Parentheses, because the values would be a text of gigabytes.
  for (int run = 0; run < 2; ++run) CHECK((step_of(low, *layout, parameters, batch) == expected));
}

}  // namespace

TEST_CASE("a large plan computes batch norms again, and trains as small plans that keep them do") {
  check_recomputation(Precision::kFloat32, 4, 1e-5);
}

TEST_CASE("a large plan computes batch norms again: bf16") {
  if (!backend().native_bf16 && !backend().emulates_bf16) return;
  check_recomputation(Precision::kBfloat16, 8, 1e-2);
}

// It also shows that the gradients of these networks are finite.
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
      check_low_memory(graph, 0.8, precision);
    }
  }
}

// The steps "forward input" and "forward recurrent" write the same memory, most of what such networks keep.
TEST_CASE("with low memory a recurrent network has the same bits") {
  using Unit = Recurrent::Unit;
  for (const Unit unit : {Unit::kLstm, Unit::kGru}) {
    for (const bool bidirectional : {false, true}) {
      for (const bool masked : {false, true}) {
        INFO((unit == Unit::kLstm ? "lstm" : "gru")
             << (bidirectional ? ", bidirectional" : "") << (masked ? ", masked" : ""));
        Graph graph(masked ? tokens(100) : ValueSpec{100, 8});
        std::vector<Symbol> inputs{input(graph)};
        // Behind an activation the layer does not look for equal rows of the embedding.
        if (masked) inputs.insert(inputs.begin(), elu(embedding(inputs[0], {.vocabulary = 4, .units = 8})));
        Symbol x =
            merge(Recurrent(unit, {.units = 16, .sequences = true, .bidirectional = bidirectional}), inputs);
        x = layer_norm(elu(layer_norm(elu(x))));
        dense(global_average_pool1d(x), {.units = 2});
        check_low_memory(graph, 1);
      }
    }
  }
}
