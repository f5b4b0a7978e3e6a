// The mask is a pure function of (seed, epoch, sample id, repeat, node).
#include "nn/kernels/dropout.hpp"
#include "convoke/core/random.hpp"
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
