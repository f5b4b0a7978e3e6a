// Batch norm: each micro-batch is a group of its own, whatever else runs in the same plan; synchronized, the
// whole batch is one.
#include "convoke/nn/freeze.hpp"
#include "convoke/nn/layers.hpp"
#include "experiment.hpp"
#include "golden.hpp"
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

// Synchronized batch norm: several micro-batches of a plan, and several plans, compute the same from
// a batch as one micro-batch of the whole batch.

namespace {

using Stops = std::vector<std::size_t>;

/// Returns a graph with every form: with ReLU and pooling, with ReLU, relu6, silu, alone, on vectors, without
/// gamma or beta.
Graph with_batch_norms(std::int64_t channels, bool synchronized) {
  Graph graph({3, 6, 7});
  Symbol x =
      conv2d(input(graph), {.filters = channels, .kernel = 3, .padding = Padding::same(), .bias = false});
  x = max_pool(relu(batch_norm(x, {.synchronized = synchronized})));
  x = conv2d(x, {.filters = channels, .kernel = 2, .bias = false});
  x = relu(batch_norm(x, {.scale = false, .synchronized = synchronized}));
  x = conv2d(x, {.filters = channels, .kernel = 1, .bias = false});
  x = relu6(batch_norm(x, {.center = false, .synchronized = synchronized}));
  x = silu(batch_norm(conv2d(x, {.filters = channels, .kernel = 1}), {.synchronized = synchronized}));
  x = batch_norm(dense(flatten(x), {.units = 9, .bias = false}), {.synchronized = synchronized});
  dense(dropout(x, 0.3), {.units = 4});
  return graph;
}

Stops stops(std::span<const std::size_t> of) { return {of.begin(), of.end()}; }

/// Runs one step of plans with these micro-batches over consecutive samples. Sums moments here, in double.
Outcome in_segments(const Graph& graph, const std::vector<std::int64_t>& micro_batches) {
  std::int64_t whole = 0;
  for (const std::int64_t micro_batch : micro_batches) whole += micro_batch;
  std::vector<std::unique_ptr<Experiment>> plans;
  std::vector<Batch> batches;
  std::vector<StepKey> keys;
  for (const std::int64_t micro_batch : micro_batches) {
    std::uint32_t first = 0;
    for (const Batch& batch : batches) first += static_cast<std::uint32_t>(batch.ids.size());
    batches.emplace_back(graph, micro_batch, first);
    plans.push_back(std::make_unique<Experiment>(graph, PlanOptions{.micro_batch = micro_batch}));
    std::copy(batches.back().input.begin(), batches.back().input.end(),
              plans.back()->network.input().begin());
    plans.back()->working.refresh();
  }
  for (const Batch& batch : batches) {
    keys.push_back(batch.key());
    keys.back().batch = whole;
  }
  const auto pass = [&](std::span<const std::size_t> counts, const auto& segment_of) {
    for (std::size_t segment = 0; segment <= counts.size(); ++segment) {
      std::vector<std::span<double>> moments;
      for (std::size_t i = 0; i < plans.size(); ++i) moments.push_back(segment_of(i, segment));
      std::vector<double> sum(segment < counts.size() ? counts[segment] : 0);
      for (const std::span<double> part : moments) {
        REQUIRE(part.size() == sum.size());
        for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += part[c];
      }
      for (const std::span<double> part : moments) std::copy(sum.begin(), sum.end(), part.begin());
    }
  };
  pass(plans[0]->network.forward_stops(),
       [&](std::size_t i, std::size_t segment) { return plans[i]->network.forward(keys[i], segment); });
  Outcome outcome;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const std::span<const float> output = plans[i]->network.output();
    outcome.output.insert(outcome.output.end(), output.begin(), output.end());
    const LossSums result = plans[i]->network.loss(batches[i].labels, whole);
    outcome.loss += result.loss;
    outcome.correct += result.correct;
  }
  pass(plans[0]->network.backward_stops(), [&](std::size_t i, std::size_t segment) {
    return plans[i]->network.backward([](std::size_t) {}, segment);
  });
  for (const auto& plan : plans) {
    for (const auto& [name, values] : by_name(*plan->layout, plan->gradients.span())) {
      outcome.gradients[name].resize(values.size());
      for (std::size_t c = 0; c < values.size(); ++c) outcome.gradients[name][c] += values[c];
    }
  }
  return outcome;
}

}  // namespace

TEST_CASE("synchronized: a plan of the whole batch equals the reference and finite differences") {
  for (const std::int64_t channels : {3, 16, 20})
    check_graph(with_batch_norms(channels, true), {.micro_batch = 6}, 5e-5);
}

TEST_CASE("synchronized: a plan of several micro-batches equals one micro-batch of the whole batch") {
  for (const std::int64_t channels : {3, 16, 20}) {
    const Batch batch(with_batch_norms(channels, false), 12);
    const Outcome whole = Experiment(with_batch_norms(channels, false), {.micro_batch = 12}).run(batch);
    check_equal(
        Experiment(with_batch_norms(channels, true), {.micro_batch = 4, .micro_batches = 3}).run(batch),
        whole, 1e-5);
  }
}

TEST_CASE("synchronized: plans of different sizes, in segments, equal one micro-batch of the whole batch") {
  for (const std::int64_t channels : {3, 16, 20}) {
    const Graph plain = with_batch_norms(channels, false), graph = with_batch_norms(channels, true);
    const Outcome whole = Experiment(plain, {.micro_batch = 12}).run(Batch(plain, 12));
    check_equal(in_segments(graph, {4, 4, 4}), whole, 1e-5);
    check_equal(in_segments(graph, {6, 5, 1}), whole, 1e-5);
    check_equal(in_segments(graph, {12}), whole, 1e-5);
  }
}

TEST_CASE("synchronized: a batch norm without trained nodes before it") {
  const auto graph_of = [](bool synchronized) {
    Graph graph({3, 4, 4});
    const Symbol first = batch_norm(input(graph), {.synchronized = synchronized});
    const Symbol a = conv2d(first, {.filters = 8, .kernel = 1, .bias = false});
    const Symbol b = batch_norm(a, {.synchronized = synchronized});
    dense(flatten(b), {.units = 3});
    return graph;
  };
  const Graph plain = graph_of(false), graph = graph_of(true);
  check_equal(in_segments(graph, {3, 4}), Experiment(plain, {.micro_batch = 7}).run(Batch(plain, 7)), 1e-5);
  const Experiment experiment(graph, {.micro_batch = 7});
  CHECK(stops(experiment.network.forward_stops()) == Stops{6, 16});
  CHECK(stops(experiment.network.backward_stops()) == Stops{16});  // no stop for the gradient of the input
}

TEST_CASE("synchronized: time steps of sequences count as pixels") {
  const auto graph_of = [](bool synchronized) {
    Graph graph({5, 3});
    const Symbol x = conv1d(input(graph), {.filters = 20, .kernel = 2, .bias = false});
    dense(flatten(relu(batch_norm(x, {.synchronized = synchronized}))), {.units = 3});
    return graph;
  };
  const Graph plain = graph_of(false);
  check_equal(in_segments(graph_of(true), {3, 4}), Experiment(plain, {.micro_batch = 7}).run(Batch(plain, 7)),
              1e-5);
}

TEST_CASE("synchronized: the stops of a plan depend on its graph alone") {
  for (const std::int64_t micro_batch : {1, 4, 16}) {
    const Experiment synchronized(with_batch_norms(20, true), {.micro_batch = micro_batch});
    CHECK(stops(synchronized.network.forward_stops()) == Stops{40, 40, 40, 40, 18});
    CHECK(stops(synchronized.network.backward_stops()) == Stops{18, 40, 40, 40, 40});
    const Experiment plain(with_batch_norms(20, false), {.micro_batch = micro_batch});
    CHECK(plain.network.forward_stops().empty());
    CHECK(plain.network.backward_stops().empty());
  }
  Graph frozen = with_batch_norms(20, true);
  CHECK(synchronizes(frozen));
  freeze(frozen, std::vector<std::string>{"batch_norm_*"});
  CHECK(!synchronizes(frozen));
  CHECK(Experiment(frozen, {.micro_batch = 4}).network.forward_stops().empty());
  CHECK(!synchronizes(with_batch_norms(20, false)));
}

TEST_CASE("synchronized: bf16") {
  Graph graph({3, 6, 7});
  Symbol x = conv2d(input(graph), {.filters = 32, .kernel = 3, .bias = false});
  x = tanh(batch_norm(x, {.synchronized = true}));
  x = average_pool(
      batch_norm(conv2d(x, {.filters = 32, .kernel = 1, .bias = false}), {.synchronized = true}));
  dense(flatten(x), {.units = 4});
  check_bf16(graph, {.micro_batch = 8});
}

// Values of PyTorch 2 in double, which SyncBatchNorm equals:
//   fill = lambda k, *s: torch.tensor([0.4 * math.sin(1.7 * i + k) for i in range(math.prod(s))]).reshape(s)
//   x, y = 3 * fill(9, 7, 2, 4, 3), [0, 2, 1, 1, 0, 2, 2]
//   z = F.conv2d(x, fill(1, 3, 2, 3, 3), padding=1)
//   z = F.batch_norm(z, mean := fill(5, 3), variance := 1 + fill(6, 3), 1 + fill(3, 3), fill(4, 3), True,
//   0.1, 1e-5) logits = F.relu(z).flatten(1) @ fill(7, 3, 36).T + fill(8, 3) F.cross_entropy(logits,
//   y).backward()
TEST_CASE("synchronized: loss, gradients and statistics equal those of PyTorch on the whole batch") {
  Graph graph({2, 4, 3});
  Symbol x = conv2d(input(graph), {.filters = 3, .kernel = 3, .padding = Padding::same(), .bias = false});
  x = relu(batch_norm(x, {.momentum = 0.9, .epsilon = 1e-5, .synchronized = true}));
  dense(flatten(x), {.units = 3});
  Experiment experiment(
      graph,
      {.micro_batch = 1, .micro_batches = 7});  // a micro-batch of one sample has no meaningful statistics
  set_waves(experiment);
  Batch batch(graph, 7);
  batch.labels = {0, 2, 1, 1, 0, 2, 2};
  batch.input = waves(9, 7 * 2 * 4 * 3, 0, 3);
  const Outcome outcome = experiment.run(batch);
  CHECK(outcome.loss / 7 == Approx(2.0516937520607064).epsilon(1e-5));
  CHECK(difference(outcome.output,
                   {3.302345,  -1.984009, -3.045475, -2.428728, 1.585194, 2.25002,   3.444373,
                    -1.80871,  -3.208896, -2.513388, 1.286985,  2.371073, 3.543102,  -1.605999,
                    -3.332364, -2.578442, 1.000663,  2.47107,   3.624817, -1.376732, -3.442058}) < 1e-5);
  CHECK(
      difference(outcome.gradients.at("conv2d_1.weight"),
                 {0.04863519,  -0.1684136,   0.08204077,   0.1358681,   -0.09962654, -0.1658385,  0.1098358,
                  0.1106254,   -0.1503401,   -0.1221368,   0.04401402,  0.1239983,   -0.03604732, -0.2061853,
                  0.1166762,   0.04791753,   -0.1633577,   -0.1374769,  0.04455251,  -0.0276407,  -0.06519821,
                  0.07278174,  0.01168068,   -0.02015997,  0.05958198,  0.04496405,  0.004462595, -0.0376234,
                  -0.06410011, -0.009001612, -0.001743641, -0.05860158, -0.02594115, 0.05165071,  -0.03417772,
                  -0.03929612, -0.02165087,  0.0265922,    0.06683141,  -0.02266858, -0.1345381,  0.06795491,
                  0.1066765,   -0.07938531,  -0.03939894,  -0.05684425, 0.1058672,   -0.07118387, -0.1076544,
                  0.1203369,   0.05513464,   -0.01256822,  -0.07557473, 0.01805766}) < 2e-5);
  CHECK(difference(outcome.gradients.at("batch_norm_1.gamma"), {0.5033307, 0.7377858, 0.6660954}) < 1e-5);
  CHECK(difference(outcome.gradients.at("batch_norm_1.beta"), {0.4689892, 0.5666011, 0.5409008}) < 1e-5);
  CHECK(difference(outcome.gradients.at("dense_1.bias"), {0.2841924, -0.1717893, -0.1124031}) < 1e-5);
  // PyTorch updates its running variance with the unbiased variance: factor n / (n - 1) with n = 7 * 4 * 3.
  CHECK(difference(moved(experiment, outcome, "batch_norm_1.running_mean"),
                   {-0.340993, 0.1472381, 0.3054806}) < 1e-5);
  CHECK(difference(moved(experiment, outcome, "batch_norm_1.running_variance", 84.0 / 83),
                   {1.10513, 1.55737, 1.209473}) < 1e-5);
}
