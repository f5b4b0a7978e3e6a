// Our kernels in every layout that they support, against loops over (n, c, h, w) in the same layout.
#include <cstring>

#include "convoke/core/random.hpp"
#include "nn/kernels/batch_norm.hpp"
#include "nn/kernels/elementwise.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/max_pool.hpp"
#include "nn/kernels/softmax.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

ChannelBlocks blocks(std::int64_t samples, std::int64_t channels, std::int64_t height, std::int64_t width,
                     std::int64_t block) {
  return {samples, channels, (channels + block - 1) / block, height, width, block};
}

/// Returns the offset of element (n, c, pixel).
std::size_t at(const ChannelBlocks& b, std::int64_t n, std::int64_t c, std::int64_t pixel) {
  return static_cast<std::size_t>(((n * b.outer + c / b.block) * b.pixels() + pixel) * b.block + c % b.block);
}

std::vector<float> random_image(const ChannelBlocks& b, std::uint64_t seed) {
  RandomStream random({seed, Purpose::kBench, 0, 0});
  std::vector<float> x(static_cast<std::size_t>(b.samples * b.sample_size()));
  for (std::int64_t n = 0; n < b.samples; ++n) {
    for (std::int64_t c = 0; c < b.channels; ++c) {
      for (std::int64_t p = 0; p < b.pixels(); ++p) x[at(b, n, c, p)] = static_cast<float>(random.normal());
    }
  }
  return x;
}

/// Returns plain, channels-last, and oneDNN's layouts of blocks of 4, 8 and 16, with and without padding
/// channels.
const std::vector<ChannelBlocks>& layouts() {
  static const std::vector<ChannelBlocks> all{
      blocks(2, 5, 6, 7, 1),   blocks(2, 5, 6, 7, 5),   blocks(2, 5, 6, 7, 8),
      blocks(2, 20, 6, 7, 16), blocks(2, 32, 6, 7, 16), blocks(2, 27, 6, 7, 27),
      blocks(2, 32, 6, 7, 32), blocks(2, 6, 6, 7, 4),   blocks(2, 16, 6, 7, 8)};
  return all;
}

MaxPoolShape pool_shape(const ChannelBlocks& in, std::int64_t size, std::int64_t stride,
                        std::int64_t before) {
  const auto out = [&](std::int64_t extent) { return (extent + 2 * before - size) / stride + 1; };
  return {in, out(in.height), out(in.width), size, size, stride, stride, before, before};
}

}  // namespace

// ctest runs these tests with ONEDNN_MAX_CPU_ISA = SSE41 and AVX2 too: see CMakeLists.txt.
TEST_CASE("the environment variable of oneDNN limits the instruction set of the kernels") {
  const char* const limit = std::getenv("ONEDNN_MAX_CPU_ISA");
  const std::string_view isa = limit == nullptr ? "" : limit;
  if (isa == "SSE41") CHECK(instruction_set() == InstructionSet::kBaseline);
  if (isa == "AVX2") CHECK(instruction_set() <= InstructionSet::kAvx2);
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (isa != "SSE41" && __builtin_cpu_supports("x86-64-v3"))
    CHECK(instruction_set() >= InstructionSet::kAvx2);
  if (isa.empty() && __builtin_cpu_supports("x86-64-v4")) CHECK(instruction_set() == InstructionSet::kAvx512);
#endif
  const auto chosen = kernels_of<ElementwiseKernels<float>>(instruction_set());
  CHECK(kernels<ElementwiseKernels<float>>().add == chosen.add);
  const auto baseline = kernels_of<ElementwiseKernels<float>>(InstructionSet::kBaseline);
  CHECK((chosen.add == baseline.add) == (instruction_set() == InstructionSet::kBaseline));
}

TEST_CASE("max_pool kernel on every layout, with ReLU and without, forward and backward") {
  for (const ChannelBlocks& in : layouts()) {
    for (const auto& [size, stride, before] :
         {std::array<std::int64_t, 3>{2, 2, 0}, {3, 2, 1}, {3, 3, 0}, {2, 1, 0}}) {
      for (const bool relu : {false, true}) {
        const MaxPoolShape shape = pool_shape(in, size, stride, before);
        const ChannelBlocks out =
            blocks(in.samples, in.channels, shape.out_height, shape.out_width, in.block);
        const std::vector<float> x = random_image(in, 1), dy = random_image(out, 2);
        std::vector<float> y(dy.size(), kNan), dx(x.size(), kNan);
        std::vector<std::int32_t> winners(y.size());
        kernels<MaxPoolKernels<float>>().forward(shape, x.data(), y.data(), winners.data(), relu);
        kernels<MaxPoolKernels<float>>().backward(shape, dy.data(), winners.data(), dx.data());
        std::vector<float> y_expected(y.size()), dx_expected(x.size());
        for (std::int64_t n = 0; n < in.samples; ++n) {
          for (std::int64_t c = 0; c < in.channels; ++c) {
            for (std::int64_t o = 0; o < out.pixels(); ++o) {
              float best = relu ? 0 : -INFINITY;
              std::size_t from = x.size();
              for (std::int64_t k = 0; k < size * size; ++k) {
                const std::int64_t h = o / out.width * stride - before + k / size;
                const std::int64_t w = o % out.width * stride - before + k % size;
                if (h < 0 || w < 0 || h >= in.height || w >= in.width) continue;
                const std::size_t i = at(in, n, c, h * in.width + w);
                if (x[i] > best) best = x[from = i];
              }
              y_expected[at(out, n, c, o)] = best;
              if (from < x.size()) dx_expected[from] += dy[at(out, n, c, o)];
            }
          }
        }
        CHECK(y == y_expected);
        CHECK(dx == dx_expected);
        std::vector<float> without(y.size(), kNan);  // inference stores no winners
        kernels<MaxPoolKernels<float>>().forward(shape, x.data(), without.data(), nullptr, relu);
        CHECK(without == y);
      }
    }
  }
}

TEST_CASE("NaN is the largest of its window and passes ReLU, in max_pool, batch_norm and add") {
  for (const ChannelBlocks& in : layouts()) {
    for (const std::int64_t where : {0, 1, 7, 8}) {  // each pixel of the first 2 x 2 window
      std::vector<float> x = random_image(in, 3);
      x[at(in, 0, 2, where)] = kNan;
      for (const bool relu : {false, true}) {
        const MaxPoolShape shape = pool_shape(in, 2, 2, 0);
        const ChannelBlocks out =
            blocks(in.samples, in.channels, shape.out_height, shape.out_width, in.block);
        std::vector<float> y(static_cast<std::size_t>(out.samples * out.sample_size()));
        kernels<MaxPoolKernels<float>>().forward(shape, x.data(), y.data(), nullptr, relu);
        CHECK(std::isnan(y[at(out, 0, 2, 0)]));
        CHECK(std::count_if(y.begin(), y.end(), [](float v) { return std::isnan(v); }) == 1);
        for (const std::int64_t pool : {1, 2}) {
          const std::vector<float> ones(static_cast<std::size_t>(in.padded_channels()), 1.0F);
          const BatchNormShape norm{in, in.samples, relu, pool, pool};
          std::vector<float> z(x.size());
          kernels<BatchNormKernels<float>>().inference(norm, x.data(), ones.data(), ones.data(), ones.data(),
                                                       ones.data(), 1e-3F, z.data());
          const ChannelBlocks after =
              blocks(in.samples, in.channels, in.height / pool, in.width / pool, in.block);
          CHECK(std::isnan(z[at(after, 0, 2, pool == 1 ? where : 0)]));
        }
      }
    }
    std::vector<float> sum(3);
    const std::vector<float> a{1, kNan, -2}, b{1, 1, 1};
    kernels<ElementwiseKernels<float>>().add(a.data(), b.data(), sum.data(), 3, true);
    CHECK(sum[0] == 2);
    CHECK(std::isnan(sum[1]));
    CHECK(sum[2] == 0);
  }
}

// torch.nn.functional.max_pool2d(torch.tensor([[[[math.inf, -math.inf], [3e38, 3e38]]]]), 2) is inf, and of
// [[3e38, 3e38], [-math.inf, 1]] 3e38.
TEST_CASE("a window with both infinities, or with a sum that overflows, has a largest value") {
  constexpr float kInf = INFINITY;
  for (const ChannelBlocks& in : layouts()) {
    const MaxPoolShape shape = pool_shape(in, 2, 2, 0);
    const ChannelBlocks out = blocks(in.samples, in.channels, shape.out_height, shape.out_width, in.block);
    const std::vector<float> ones(static_cast<std::size_t>(in.padded_channels()), 1.0F);
    const std::vector<float> zeros(ones.size());
    for (const auto& [window, largest] : {std::pair(std::array{kInf, -kInf, 3e38F, 3e38F}, kInf),
                                          std::pair(std::array{3e38F, 3e38F, -kInf, 1.0F}, 3e38F)}) {
      std::vector<float> x = random_image(in, 3);
      for (std::size_t i = 0; i < 4; ++i) {
        x[at(in, 0, 2, static_cast<std::int64_t>(i / 2) * in.width + static_cast<std::int64_t>(i % 2))] =
            window[i];
      }
      std::vector<float> y(static_cast<std::size_t>(out.samples * out.sample_size())), z(y.size());
      kernels<MaxPoolKernels<float>>().forward(shape, x.data(), y.data(), nullptr, false);
      CHECK(y[at(out, 0, 2, 0)] == largest);
      kernels<BatchNormKernels<float>>().inference({in, in.samples, true, 2, 2}, x.data(), ones.data(),
                                                   zeros.data(), zeros.data(), ones.data(), 0, z.data());
      CHECK(z[at(out, 0, 2, 0)] == largest);
    }
  }
  // The only weight that is not 0 doubles the pixel itself.
  const Conv2dMaxPoolShape shape{1, 1, 4, 4, 16, 1, 1};
  std::vector<float> weight(9 * 16), x(16, 1.0F), y(16);
  std::fill_n(weight.begin() + 4 * 16, 16, 2.0F);
  x[5] = 3e38F;
  x[6] = -3e38F;
  kernels<Conv2dMaxPoolKernels<float>>().forward(shape, x.data(), weight.data(), nullptr, y.data(), nullptr,
                                                 false);
  CHECK(y == std::vector<float>(16, kInf));
}

TEST_CASE("NaN passes through the convolution with pooling, and only where it is read") {
  const Conv2dMaxPoolShape shape{2, 1, 7, 6, 16, 2, 2};
  const std::vector<float> weight(9 * 16, 1.0F);
  for (const bool relu : {false, true}) {
    std::vector<float> x(2 * 7 * 6, -1.0F);
    x[5] = kNan;  // the upper right corner of the first sample, which only its second window reads
    std::vector<float> y(2 * 16 * 2 * 2);
    std::vector<std::int32_t> winners(y.size());
    kernels<Conv2dMaxPoolKernels<float>>().forward(shape, x.data(), weight.data(), nullptr, y.data(),
                                                   winners.data(), relu);
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (i / 16 == 1) {
        CHECK(std::isnan(y[i]));
      } else {
        CHECK(y[i] == (relu ? 0 : -9));
        CHECK(winners[i] == (relu ? kNoWinner : 0));  // the first among equals
      }
    }
    std::vector<float> without(y.size());  // inference stores no winners
    kernels<Conv2dMaxPoolKernels<float>>().forward(shape, x.data(), weight.data(), nullptr, without.data(),
                                                   nullptr, relu);
    CHECK(std::memcmp(without.data(), y.data(), y.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("batch_norm kernel on every layout: padding is read and written as zero") {
  for (const ChannelBlocks& in : layouts()) {
    for (const std::int64_t pool : {1, 2}) {
      const auto padded = static_cast<std::size_t>(in.padded_channels());
      const BatchNormShape shape{in, 1, true, pool, pool};
      const ChannelBlocks out = blocks(in.samples, in.channels, in.height / pool, in.width / pool, in.block);
      const std::vector<float> x = random_image(in, 4), dy = random_image(out, 5);
      std::vector<float> gamma(padded), beta(padded);
      for (std::size_t c = 0; c < static_cast<std::size_t>(in.channels); ++c) {
        gamma[c] = 0.5F + 0.1F * static_cast<float>(c);
        beta[c] = 0.3F - 0.05F * static_cast<float>(c);
      }
      std::vector<float> mean(2 * padded), scale(2 * padded), variance(2 * padded), x_hat(dy.size()),
          y(dy.size()), gated(dy.size()), dx(x.size(), kNan), dgamma(padded, kNan), dbeta(padded, kNan);
      std::vector<std::int32_t> winners(dy.size());
      const BatchNormMemory memory{mean.data(), scale.data(), variance.data(), winners.data(), x_hat.data()};
      kernels<BatchNormKernels<float>>().forward(shape, x.data(), gamma.data(), beta.data(), 1e-3F, memory,
                                                 y.data());
      kernels<BatchNormKernels<float>>().backward(shape, x.data(), dy.data(), gamma.data(), beta.data(),
                                                  memory, gated.data(), dx.data(), dgamma.data(),
                                                  dbeta.data());
      // Compares with the plain layout for each channel, which layers_test compares with the reference.
      const ChannelBlocks plain = blocks(in.samples, 1, in.height, in.width, 1);
      const ChannelBlocks plain_out = blocks(in.samples, 1, out.height, out.width, 1);
      const BatchNormShape single{plain, 1, true, pool, pool};
      for (std::int64_t c = 0; c < in.padded_channels(); ++c) {
        std::vector<float> x1(static_cast<std::size_t>(2 * in.pixels())), dx1(x1.size());
        std::vector<float> dy1(static_cast<std::size_t>(2 * out.pixels())), y1(dy1.size()), g1(dy1.size()),
            hat1(dy1.size());
        std::vector<std::int32_t> won1(dy1.size());
        for (std::int64_t n = 0; n < 2; ++n) {
          for (std::int64_t p = 0; p < in.pixels(); ++p) x1[at(plain, n, 0, p)] = x[at(in, n, c, p)];
          for (std::int64_t p = 0; p < out.pixels(); ++p) dy1[at(plain_out, n, 0, p)] = dy[at(out, n, c, p)];
        }
        float mean1[2], scale1[2], variance1[2], dgamma1, dbeta1;
        const auto i = static_cast<std::size_t>(c);
        const BatchNormMemory memory1{mean1, scale1, variance1, won1.data(), hat1.data()};
        kernels<BatchNormKernels<float>>().forward(single, x1.data(), &gamma[i], &beta[i], 1e-3F, memory1,
                                                   y1.data());
        kernels<BatchNormKernels<float>>().backward(single, x1.data(), dy1.data(), &gamma[i], &beta[i],
                                                    memory1, g1.data(), dx1.data(), &dgamma1, &dbeta1);
        double worst = std::abs(dgamma[i] - dgamma1) + std::abs(dbeta[i] - dbeta1);
        for (std::int64_t n = 0; n < 2; ++n) {
          for (std::int64_t p = 0; p < in.pixels(); ++p)
            worst = std::max<double>(worst, std::abs(dx1[at(plain, n, 0, p)] - dx[at(in, n, c, p)]));
          for (std::int64_t p = 0; p < out.pixels(); ++p)
            worst = std::max<double>(worst, std::abs(y1[at(plain_out, n, 0, p)] - y[at(out, n, c, p)]));
        }
        CHECK(worst < 1e-5);
        if (c >= in.channels) CHECK(y[at(out, 0, c, 0)] == 0);
      }
    }
  }
}

TEST_CASE("softmax: large values, ties") {
  const std::vector<float> x{1000, 0, -1000, 1, 1, 1};
  std::vector<float> y(6);
  softmax_forward(x.data(), y.data(), 2, 3);
  CHECK(y[0] == 1);
  CHECK(y[2] == 0);
  CHECK(y[4] == Approx(1.0 / 3));
}
