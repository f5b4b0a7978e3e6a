// Plans: their memory, the order in which gradients become final, and their lists of steps.
#include <cstring>

#include "convoke/core/random.hpp"
#include "convoke/nn/layers.hpp"
#include "experiment.hpp"
#include "nn/plan/arena.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

/// Returns a graph with both kinds of statistics, a residual path, dropout and shapes for Winograd.
Graph residual() {
  Graph graph({1, 14, 14});
  const Symbol x = max_pool(relu(batch_norm(conv2d(input(graph), {.filters = 32, .kernel = 3}))));
  Symbol y = relu(conv2d(x, {.filters = 32, .kernel = 3, .padding = Padding::same()}));
  y = batch_norm(conv2d(y, {.filters = 32, .kernel = 3, .padding = Padding::same()}));
  y = dropout(flatten(max_pool(relu(add(y, x)))), 0.2);
  softmax(dense(relu(batch_norm(dense(y, {.units = 24}))), {.units = 10}));
  return graph;
}

}  // namespace

TEST_CASE("no two buffers that are alive at the same time overlap") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomStream random({seed, Purpose::kBench, 0, 0});
    const std::size_t count = 1 + random.below(40);
    std::vector<BufferUse> buffers(count);
    std::size_t sum = 0;
    for (BufferUse& buffer : buffers) {
      buffer.bytes = random.below(10) == 0 ? 0 : random.below(5000);
      if (random.below(12) != 0) {  // otherwise the buffer is never used
        buffer.once.use_at(random.below(30));
        buffer.once.use_at(random.below(30));
        if (random.below(3) == 0) buffer.again.use_at(buffer.once.last + random.below(9));
      }
      sum += (buffer.bytes + 63) / 64 * 64;
    }
    const ArenaPlacement plan = place(buffers);
    REQUIRE(plan.offsets.size() == count);
    CHECK(plan.bytes <= sum);
    for (std::size_t i = 0; i < count; ++i) {
      if (!buffers[i].used()) continue;
      REQUIRE(plan.offsets[i] % 64 == 0);
      REQUIRE(plan.offsets[i] + buffers[i].bytes <= plan.bytes);
      for (std::size_t j = 0; j < i; ++j) {
        const auto holds = [&](std::size_t k, std::size_t time) {
          const auto within = [&](const Interval& in) { return in.first <= time && time <= in.last; };
          return within(buffers[k].once) || within(buffers[k].again);
        };
        bool together = false;
        for (std::size_t time = 0; time < 50; ++time)
          together = together || (holds(i, time) && holds(j, time));
        if (!together) continue;
        const bool apart = plan.offsets[i] + buffers[i].bytes <= plan.offsets[j] ||
                           plan.offsets[j] + buffers[j].bytes <= plan.offsets[i];
        REQUIRE(apart);
      }
    }
  }
}

TEST_CASE("buffers that are used one after the other share memory") {
  std::vector<BufferUse> chain(10);
  for (std::size_t i = 0; i < chain.size(); ++i) chain[i] = {1000, {i, i + 1}, {}};
  CHECK(place(chain).bytes == 2 * 1024);
  CHECK(place({}).bytes == 0);
}

TEST_CASE("ready is called with rising ends, below which gradients are final") {
  const Graph graph = residual();
  Experiment experiment(graph, {.micro_batch = 4, .micro_batches = 2});
  const Outcome expected = experiment.run(Batch(graph, 8));
  const std::vector<float> final(experiment.gradients.data(),
                                 experiment.gradients.data() + experiment.gradients.size());

  const Batch batch(graph, 8);
  std::copy(batch.input.begin(), batch.input.end(), experiment.network.input().begin());
  std::fill(experiment.gradients.span().begin(), experiment.gradients.span().end(), NAN);
  experiment.network.forward(batch.key());
  experiment.network.loss(batch.labels, 8);
  std::vector<std::size_t> ends;
  experiment.network.backward([&](std::size_t end) {
    // Compares bits (NaN in the padding of slots): nothing below `end` is written after this call.
    if (std::memcmp(final.data(), experiment.gradients.data(), end * sizeof(float)) != 0)
      FAIL("a gradient below " << end << " was not final");
    ends.push_back(end);
  });
  CHECK(std::is_sorted(ends.begin(), ends.end()));
  CHECK(ends.back() == experiment.layout->size());
  // The last layer is ready long before the first, so several buckets can be sent at the same time.
  const auto first = experiment.layout->slot("conv2d_1.weight").offset;
  CHECK(std::count_if(ends.begin(), ends.end(), [&](std::size_t end) { return end > 0 && end < first; }) > 5);
}

TEST_CASE("a smaller plan can use the parameters of a larger one") {
  const Graph graph = residual();
  Experiment large(graph, {.micro_batch = 8});
  Experiment expected(graph, {.micro_batch = 3});
  const Batch batch(graph, 3);
  Network small(graph, large.layout, {.micro_batch = 3});
  small.bind(large.parameters.data(), large.gradients.data());
  std::copy(batch.input.begin(), batch.input.end(), small.input().begin());
  small.forward(batch.key());
  const std::vector<double> output(small.output().begin(), small.output().end());
  CHECK(difference(output, expected.run(batch).output) < 1e-5);
}

TEST_CASE("a run does not affect the next: repeated and rebound, it gives the same bits") {
  const Graph graph = residual();
  Experiment experiment(graph, {.micro_batch = 4});
  const Outcome first = experiment.run(Batch(graph, 4));
  experiment.run(Batch(graph, 4, 100));
  AlignedBuffer<float> moved(experiment.layout->size());
  std::copy_n(experiment.parameters.data(), moved.size(), moved.data());
  std::fill(experiment.parameters.span().begin(), experiment.parameters.span().end(), NAN);
  experiment.network.bind(moved.data(), experiment.gradients.data());
  const Outcome again = experiment.run(Batch(graph, 4));
  CHECK(again.output == first.output);
  CHECK(again.loss == first.loss);
  CHECK(again.gradients == first.gradients);
}

TEST_CASE("a network may have no parameters") {
  Graph graph({1, 2, 3});
  flatten(relu(input(graph)));
  Experiment experiment(graph, kMicroBatchOf2);
  const Batch batch(graph, 2);
  const std::vector<double> output = experiment.run(batch).output;
  REQUIRE(output.size() == batch.input.size());
  for (std::size_t i = 0; i < output.size(); ++i) CHECK(output[i] == std::max(batch.input[i], 0.0F));
}

TEST_CASE("first_non_finite names the node") {
  const Graph graph = residual();
  const Batch batch(graph, 4);
  Experiment experiment(graph, {.micro_batch = 4});
  const auto blame = [&](const std::string& parameter, float value) {
    const ParameterSlot& slot = experiment.layout->slot(parameter);
    const AlignedBuffer<float> good = random_parameters(*experiment.layout);
    std::copy_n(good.data(), good.size(), experiment.parameters.data());
    if (!parameter.empty()) experiment.parameters[slot.offset + 3] = value;
    std::copy(batch.input.begin(), batch.input.end(), experiment.network.input().begin());
    return experiment.network.first_non_finite(batch.key());
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  CHECK(blame("conv2d_2.weight", 0.5F).empty());
  CHECK(blame("conv2d_1.weight", kNan) == "conv2d_1");
  CHECK(blame("conv2d_2.weight", kNan) == "conv2d_2");  // with a ReLU that oneDNN applies
  CHECK(blame("conv2d_2.bias", INFINITY) == "conv2d_2");
  CHECK(blame("conv2d_3.weight", kNan) == "conv2d_3");
  CHECK(blame("batch_norm_2.gamma", kNan) == "batch_norm_2");
  CHECK(blame("dense_1.weight", kNan) == "dense_1");
  CHECK(blame("dense_2.bias", kNan) == "dense_2");
  // The weights are finite, but the sum overflows.
  CHECK(blame("dense_2.weight", std::numeric_limits<float>::max()) == "dense_2");
  blame("conv2d_1.weight", 0.5F);
  std::copy(batch.input.begin(), batch.input.end(), experiment.network.input().begin());
  experiment.network.input()[7] = kNan;
  CHECK(experiment.network.first_non_finite(batch.key()) == "input");
}

TEST_CASE("NaN in any layer reaches the loss, unless oneDNN applies the ReLU after it") {
  const Graph graph = residual();
  const Batch batch(graph, 4);
  for (const char* name : {"conv2d_1.weight", "batch_norm_1.gamma", "conv2d_3.weight", "batch_norm_2.beta",
                           "dense_1.weight", "dense_2.weight"}) {
    Experiment experiment(graph, {.micro_batch = 4});
    experiment.parameters[experiment.layout->slot(name).offset + 3] = NAN;
    INFO(name);
    CHECK(std::isnan(experiment.run(batch).loss));
  }
}

TEST_CASE("steps contain their node, operations and algorithm") {
  const Graph graph = residual();
  const Network network = std::move(Experiment(graph, {.micro_batch = 4}).network);
  double flops = 0;
  for (const PlanStep& step : network.steps()) {
    CHECK_NOTHROW(graph.find(step.node));
    CHECK(!step.what.empty());
    CHECK(!step.implementation.empty());
    // Only the passes of convolutions and dense layers have multiplications; their reorders and ReLUs have
    // none.
    const bool layer = step.node.starts_with("conv2d") || step.node.starts_with("dense");
    const bool pass = step.what.starts_with("forward") || step.what.starts_with("backward weights") ||
                      step.what.starts_with("backward data");
    CHECK(step.product() == (layer && pass));
    flops += step.flops;
  }
  // conv2d_1 has two passes (no gradient of the input), the others have three; 4 samples.
  const double once = 2.0 * (12 * 12 * 32 * 9);
  const double thrice = 2.0 * (2 * 6 * 6 * 32 * 32 * 9 + 288 * 24 + 24 * 10);
  CHECK(flops == Approx(4 * (2 * once + 3 * thrice)));
  CHECK(network.activation_bytes() > 0);
}

TEST_CASE("our kernels keep the layout that convolutions write: no reorder between them") {
  for (const std::int64_t channels : {16, 32, 48}) {
    // For one channel of input, oneDNN 3 may choose a product over plain images.
    Graph graph({16, 14, 14});
    Symbol x = max_pool(relu(batch_norm(conv2d(input(graph), {.filters = channels, .kernel = 3}))));
    x = max_pool(relu(conv2d(x, {.filters = channels, .kernel = 3, .padding = Padding::same()})));
    x = dropout(add(x, relu(conv2d(x, {.filters = channels, .kernel = 3, .padding = Padding::same()}))), 0.2);
    dense(global_average_pool(x), {.units = 10});
    Experiment experiment(graph, {.micro_batch = 4});
    for (const PlanStep& step : experiment.network.steps()) {
      // Only weights for a gradient with respect to data may be reordered (transposed).
      const bool product = step.node.starts_with("conv2d") || step.node.starts_with("dense");
      INFO(channels << " channels: " << step.node << " " << step.what);
      CHECK((step.what != "reorder" || product));
    }
    const std::vector<PlanStep> steps = experiment.network.steps();
    CHECK(std::count_if(steps.begin(), steps.end(), [](const PlanStep& s) { return s.what == "reorder"; }) <=
          3);
  }
}

TEST_CASE("time_steps times every step") {
  Graph graph({8});
  dense(relu(dense(input(graph), {.units = 8})), {.units = 2});
  Experiment experiment(graph, {.micro_batch = 4});
  experiment.run(Batch(graph, 4));
  const std::vector<double> seconds = experiment.network.time_steps(2);
  CHECK(seconds.size() == experiment.network.steps().size());
  for (const double s : seconds) CHECK((s >= 0 && s < 1));
}

TEST_CASE("graphs that cannot be compiled are refused") {
  const auto compile = [](const Graph& graph) { ParameterLayout(graph, 2); };
  Graph image({1, 4, 4});
  conv2d(input(image), {.filters = 2, .kernel = 3});
  CHECK(error_of([&] { compile(image); }) ==
        "the network ends in conv2d_1 with shape (N, 2, 2, 2), but a classifier must end in a vector of "
        "classes");
  Graph dead({4});
  dense(input(dead), {.units = 3});
  dense(input(dead), {.units = 2});
  CHECK(error_of([&] { compile(dead); }) == "no layer reads the output of dense_1");
}
