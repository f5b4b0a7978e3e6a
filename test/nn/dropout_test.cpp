// Dropout and noise: masks and random numbers are a pure function of (seed, epoch, sample id, repeat, node).
#include "nn/kernels/dropout.hpp"
#include "around.hpp"
#include "convoke/core/random.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/layers.hpp"
#include "golden.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

constexpr std::uint32_t kStream = 7;

/// Computes the documented mask with the scalar generator.
bool kept(std::int64_t channels, std::int64_t channel, std::int64_t pixel, double rate, const StepKey& key,
          std::uint32_t sample, std::uint32_t repeat) {
  const auto e = static_cast<std::uint32_t>(pixel * channels + channel);
  const PhiloxCounter words = philox4x32({e / 64 * 16 + e % 16, kStream, sample, repeat},
                                         philox_key(key.seed, Purpose::kDropout, key.epoch));
  return words[e / 16 % 4] >= rate * 0x1p32;
}

}  // namespace

TEST_CASE("the dropout kernel uses the documented words in any layout and batch") {
  const StepKey key{.seed = 0x123456789ABCDEF, .epoch = 3, .samples = {}};
  const double rate = 0.3;
  const std::vector<std::uint32_t> ids{5, 0, 4000000000U}, repeats{2, 0, 0xFFFFFFFFU};
  for (const auto& [channels, block] : {std::pair<std::int64_t, std::int64_t>{5, 1},
                                        {5, 5},
                                        {5, 16},
                                        {16, 16},
                                        {20, 16},
                                        {48, 16},
                                        {48, 48},
                                        {48, 1},
                                        {12, 8},
                                        {130, 130}}) {
    const ChannelBlocks shape{3, channels, (channels + block - 1) / block, 3, 5, block};
    const auto count = static_cast<std::size_t>(3 * shape.sample_size());
    std::vector<float> y(count, NAN), dx(count, NAN);
    const std::vector<float> x(count, 1.0F);
    std::vector<std::uint8_t> keep(count);
    kernels<DropoutKernels<float>>().forward(shape, x.data(), rate,
                                             philox_key(key.seed, Purpose::kDropout, key.epoch), kStream,
                                             ids.data(), repeats.data(), y.data(), keep.data());
    kernels<DropoutKernels<float>>().backward(x.data(), keep.data(), rate, dx.data(), count);
    int wrong = 0;
    for (std::int64_t n = 0; n < 3; ++n) {
      for (std::int64_t c = 0; c < shape.padded_channels(); ++c) {
        for (std::int64_t p = 0; p < shape.pixels(); ++p) {
          const auto i =
              static_cast<std::size_t>(((n * shape.outer + c / block) * 15 + p) * block + c % block);
          const bool expected =
              c < channels && kept(channels, c, p, rate, key, ids[static_cast<std::size_t>(n)],
                                   repeats[static_cast<std::size_t>(n)]);
          const float value = expected ? static_cast<float>(1 / (1 - rate)) : 0;
          if (y[i] != value || (c < channels && dx[i] != value)) ++wrong;
        }
      }
    }
    INFO(channels << " channels in blocks of " << block);
    CHECK(wrong == 0);
  }
}

TEST_CASE("dropout on images: plans of other batches and algorithms drop the same elements") {
  Graph graph({2, 6, 6});
  Symbol x = conv2d(input(graph), {.filters = 20, .kernel = 3, .padding = Padding::same()});
  dense(flatten(dropout(x, 0.5)), {.units = 3});
  Experiment direct(graph, {.micro_batch = 2, .convolution = ConvolutionChoice::kDirect});
  Experiment winograd(graph, {.micro_batch = 6, .convolution = ConvolutionChoice::kWinograd});
  const std::vector<double> two = direct.run(Batch(graph, 2, 3)).output;  // samples 3 and 4
  const std::vector<double> six = winograd.run(Batch(graph, 6)).output;
  CHECK(difference({six.begin() + 9, six.begin() + 15}, two) < 1e-5);
}

TEST_CASE("a rate next to 1 drops nearly everything") {
  for (const double rate : {1 - 0x1p-32, 1 - 0x1p-33, 1 - 0x1p-34, 1 - 0x1p-53}) {
    CAPTURE(1 - rate);
    const std::vector<double> found = of_ones({100}, {0, 1, 2}, [&](Symbol x) { return dropout(x, rate); });
    CHECK(std::count(found.begin(), found.end(), 0.0) == 300);
  }
}

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
