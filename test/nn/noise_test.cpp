// gaussian_noise, stochastic_depth and dropout of whole channels: their random numbers follow from (seed,
// epoch, sample, node) alone.
#include "around.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/nn/layer_table.hpp"
#include "golden.hpp"
#include "refusal.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

template <class Body>
void check_random(const Body& body) {
  for (const std::int64_t channels : {3, 16, 20}) {
    check_graph(around(channels, 3, 2, body));
    check_graph(as_first(Shape{channels, 1, 3}, body));
    check_graph(as_first(Shape{3, channels}, [&](Symbol x) { return body(prelu(x)); }));
  }
  Graph graph({3, 3, 3});
  dense(flatten(body(tanh(conv2d(input(graph), {.filters = 20, .kernel = 2})))), {.units = 4});
  check_bf16(graph, {.micro_batch = 4});
}

std::vector<std::uint32_t> ids_below(std::uint32_t count) {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < count; ++i) ids.push_back(i);
  return ids;
}

}  // namespace

TEST_CASE("gaussian_noise, stochastic_depth and spatial dropout in graphs") {
  check_random([](Symbol x) { return gaussian_noise(x, 0.3); });
  check_random([](Symbol x) { return stochastic_depth(x, 0.4); });
  check_random([](Symbol x) { return dropout(x, {.rate = 0.4, .spatial = true}); });
  check_random([](Symbol x) { return gaussian_noise(stochastic_depth(x, 0), 0); });
  Graph vector({7});
  dense(stochastic_depth(gaussian_noise(dense(input(vector), {.units = 9}), 0.5), 0.3), {.units = 3});
  check_graph(vector);
  check_graph(around(20, 3, 2, [](Symbol y) { return gaussian_noise(flatten(y), 0.5); }));
  Graph residual({4, 3, 3});
  Symbol x = conv2d(input(residual), {.filters = 4, .kernel = 1});
  x = add(x, stochastic_depth(conv2d(x, {.filters = 4, .kernel = 1}), 0.5));
  dense(flatten(x), {.units = 3});
  check_graph(residual, {.micro_batch = 3, .micro_batches = 2});
}

TEST_CASE("each use of a sample in an epoch has other random numbers") {
  for (const Settings& layer : std::vector<Settings>{
           {{"layer", "dropout"}, {"rate", 0.5}},
           {{"layer", "dropout"}, {"rate", 0.5}, {"spatial", true}},
           {{"layer", "stochastic_depth"}, {"rate", 0.5}},
           {{"layer", "gaussian_noise"}, {"stddev", 1}},
           {{"layer", "lstm"}, {"units", 4}, {"sequences", true}, {"dropout", 0.5}},
           {{"layer", "gru"}, {"units", 4}, {"sequences", true}, {"recurrent_dropout", 0.5}}}) {
    const Graph graph = build_graph({5, 4}, {{{"layer", "conv1d"}, {"filters", 4}, {"kernel", 1}},
                                             layer,
                                             {{"layer", "flatten"}},
                                             {{"layer", "dense"}, {"units", 3}}});
    Batch batch(graph, 8);
    batch.ids.assign(8, 6);
    batch.repeats = ids_below(8);
    for (const Precision precision : {Precision::kFloat32, Precision::kBfloat16}) {
      const bool whole = precision == Precision::kFloat32;
      if (!whole && !backend().native_bf16 && !backend().emulates_bf16) continue;
      INFO(Value(layer).to_string() << (whole ? "" : " in bf16"));
      Experiment experiment(graph, {.micro_batch = 8, .precision = precision});
      const Outcome expected = reference_outcome(graph, experiment, batch);
      CHECK(rms_difference(experiment.run(batch).output, expected.output) < (whole ? 2e-5 : 0.03));
    }
  }
}

TEST_CASE("gaussian_noise has the requested standard deviation and mean 0") {
  const std::vector<double> y = of_ones({40000}, {3}, [](Symbol x) { return gaussian_noise(x, 0.5); });
  double sum = 0, square = 0, within = 0;
  for (const double value : y) {
    sum += value - 1;
    square += (value - 1) * (value - 1);
    within += std::abs(value - 1) < 0.5 ? 1 : 0;
  }
  const double n = 40000;
  CHECK(std::abs(sum / n) < 4 * 0.5 / std::sqrt(n));
  CHECK(std::sqrt(square / n) == Approx(0.5).epsilon(0.02));
  CHECK(within / n == Approx(0.6827).margin(0.01));  // erf(1 / sqrt 2)
}

TEST_CASE("stochastic_depth drops whole samples and spatial dropout drops whole channels, at their rates") {
  const auto fraction = [](const std::vector<double>& y, std::size_t whole, double rate) {
    double dropped = 0;
    for (std::size_t i = 0; i < y.size(); i += whole) {
      CHECK((y[i] == 0 || std::abs(y[i] - 1 / (1 - rate)) < 1e-6));
      dropped += y[i] == 0 ? 1 : 0;
      for (std::size_t k = 1; k < whole; ++k) CHECK(y[i + k] == y[i]);
    }
    return dropped * static_cast<double>(whole) / static_cast<double>(y.size());
  };
  for (const double rate : {0.1, 0.5}) {
    const double margin = 4 * std::sqrt(rate * (1 - rate) / 1000);
    const auto depth = [&](Symbol x) { return stochastic_depth(x, rate); };
    CHECK(fraction(of_ones({2, 1, 2}, ids_below(1000), depth), 4, rate) == Approx(rate).margin(margin));
    const auto spatial = [&](Symbol x) { return dropout(x, {.rate = rate, .spatial = true}); };
    CHECK(fraction(of_ones({50, 1, 2}, ids_below(20), spatial), 2, rate) == Approx(rate).margin(margin));
  }
}

TEST_CASE("noise layers refuse settings and inputs that do not fit") {
  CHECK(error_of_layer({{"layer", "gaussian_noise"}}) == "layer \"gaussian_noise\": \"stddev\" is missing");
  CHECK(error_of_layer({{"layer", "gaussian_noise"}, {"stddev", -1}}) ==
        "layer \"gaussian_noise\": \"stddev\" must be at least 0, but is -1");
  CHECK(error_of_layer({{"layer", "stochastic_depth"}, {"rate", 1}}) ==
        "layer \"stochastic_depth\": \"rate\" must be at least 0 and below 1, but is 1");
  CHECK(error_on({4}, [](Symbol x) { dropout(x, {.rate = 0.5, .spatial = true}); }) ==
        "dropout_1 (dropout): with spatial = true needs (N, C, H, W) or (N, L, F), but its input is (N, 4)");
}
