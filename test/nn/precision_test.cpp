// bf16 against fp32, and the bf16 copies of the weights.
#include <cstring>

#include "convoke/nn/backend.hpp"
#include "convoke/nn/layers.hpp"
#include "experiment.hpp"
#include "nn/kernels/bfloat16.hpp"
#include "nn/kernels/elementwise.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

/// Returns a graph with every layer that has one of our kernels, and convolutions with different layouts in
/// oneDNN.
Graph mixed(std::int64_t channels) {
  Graph graph({channels, 14, 14});
  const Symbol x = max_pool(relu(batch_norm(conv2d(input(graph), {.filters = 32, .kernel = 3}))));
  Symbol y = relu(conv2d(x, {.filters = 32, .kernel = 3, .padding = Padding::same()}));
  y = batch_norm(conv2d(y, {.filters = 32, .kernel = 3, .padding = Padding::same()}));
  y = max_pool(relu(add(y, x)), {.size = 3, .stride = 2});
  y = conv2d(tanh(y), {.filters = 20, .kernel = 1});
  y = dropout(flatten(average_pool(y, {.size = 2, .stride = 1})), 0.2);
  softmax(dense(relu(batch_norm(dense(y, {.units = 24}))), {.units = 10}));
  return graph;
}

/// Returns a graph without kinks: rounding switches no ReLU and no maximum, so gradients are close.
Graph smooth(std::int64_t channels) {
  Graph graph({channels, 14, 14});
  Symbol x = average_pool(tanh(batch_norm(conv2d(input(graph), {.filters = 32, .kernel = 3}))));
  x = add(tanh(conv2d(x, {.filters = 32, .kernel = 3, .padding = Padding::same()})), x);
  x = dropout(global_average_pool(conv2d(x, {.filters = 20, .kernel = 1})), 0.2);
  softmax(dense(sigmoid(dense(x, {.units = 24})), {.units = 10}));
  return graph;
}

Graph fused() {
  Graph graph({1, 12, 12});
  const Symbol x = max_pool(relu(conv2d(input(graph), {.filters = 16, .kernel = 3})));
  softmax(dense(flatten(conv2d(x, {.filters = 32, .kernel = 3})), {.units = 10}));
  return graph;
}

}  // namespace

TEST_CASE("bf16 rounds to nearest, ties to even, and keeps infinities and NaN") {
  const auto rounded = [](float value) { return static_cast<float>(Bf16(value)); };
  CHECK(rounded(1.0F) == 1.0F);
  CHECK(rounded(-0.15625F) == -0.15625F);
  CHECK(rounded(1.0F + 0x1p-8F) == 1.0F);                // tie: to even, down
  CHECK(rounded(1.0F + 3 * 0x1p-8F) == 1.0F + 0x1p-6F);  // tie: to even, up
  CHECK(rounded(1.0F + 0x1.02p-8F) == 1.0F + 0x1p-7F);   // above the tie
  CHECK(rounded(0x1.FFp127F) == INFINITY);
  CHECK(rounded(-INFINITY) == -INFINITY);
  CHECK(std::isnan(rounded(NAN)));
  CHECK(std::isnan(rounded(std::bit_cast<float>(0x7F800001U))));  // its upper half alone would be infinity
  CHECK(std::signbit(rounded(-0.0F)));
}

TEST_CASE("kernels of every instruction set round to bf16 alike") {
  std::vector<Bf16> a, b;
  for (const auto& [x, y] : std::vector<std::pair<float, float>>{{1.0F, 0x1p-8F},
                                                                 {1.0F + 0x1p-7F, 0x1p-8F},
                                                                 {1.0F, 0x1.02p-8F},
                                                                 {0x1.FEp127F, 0x1.FEp127F},
                                                                 {INFINITY, 1.0F},
                                                                 {INFINITY, -INFINITY},
                                                                 {-0.0F, -0.0F}}) {
    for (int copies = 0; copies < 5; ++copies) {  // 35 values: pieces and a rest
      a.emplace_back(x);
      b.emplace_back(y);
    }
  }
  for (const InstructionSet set :
       {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (set > instruction_set()) continue;
    std::vector<Bf16> sum(a.size());
    kernels_of<ElementwiseKernels<Bf16>>(set).add(a.data(), b.data(), sum.data(), a.size(), false);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Bf16 expected(static_cast<float>(a[i]) + static_cast<float>(b[i]));
      INFO("set " << static_cast<int>(set) << ", value " << i);
      CHECK((sum[i].bits == expected.bits ||
             (std::isnan(static_cast<float>(sum[i])) && std::isnan(static_cast<float>(expected)))));
    }
  }
}

TEST_CASE("a plan in bf16 equals one in fp32 to bf16's rounding") {
  check_bf16(smooth(3), {.micro_batch = 16, .micro_batches = 2});
  check_bf16(smooth(16), {.micro_batch = 16, .micro_batches = 2});
  for (const Graph& graph : {mixed(3), mixed(16), fused()})
    check_bf16(graph, {.micro_batch = 16, .micro_batches = 2}, 0.25);
}

TEST_CASE("plans that share copies of the weights give the same bits as plans that make their own") {
  for (const Precision precision : {Precision::kFloat32, Precision::kBfloat16}) {
    if (precision == Precision::kBfloat16 && !backend().native_bf16 && !backend().emulates_bf16) continue;
    const Graph graph = mixed(3);
    const Batch batch(graph, 4);
    PlanOptions options{.micro_batch = 4,
                        .convolution = ConvolutionChoice::kDirect,
                        .precision = precision,
                        .working_weights = true};
    Experiment shared(graph, options);
    options.working_weights = false;
    Experiment own(graph, options);
    const Outcome a = shared.run(batch), b = own.run(batch);
    CHECK(a.output == b.output);
    CHECK(a.gradients == b.gradients);
    // Several parts, as threads make them, together make all copies.
    std::fill_n(shared.parameters.data(), shared.parameters.size(), 0.5F);
    shared.working.refresh(1, 2);
    shared.working.refresh(0, 2);
    std::fill_n(own.parameters.data(), own.parameters.size(), 0.5F);
    own.working.refresh();
    CHECK(std::memcmp(shared.working.data(), own.working.data(), 64) == 0);
    CHECK(shared.run(batch).output == own.run(batch).output);
  }
}
