// The depthwise weight gradient against loops over (n, c, h, w), in the layouts that it reads.
#include "nn/kernels/depthwise.hpp"

#include "convoke/core/random.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

std::size_t at(const DepthwiseShape& s, std::int64_t pixels, std::int64_t n, std::int64_t g,
               std::int64_t pixel, std::int64_t c) {
  return static_cast<std::size_t>(((n * s.blocks + g) * pixels + pixel) * s.block + c);
}

struct Gradients {
  std::vector<double> weight, bias;  // (G, KH, KW, B), (G, B)
};

template <class T>
Gradients slow(const DepthwiseShape& s, const std::vector<T>& x, const std::vector<T>& dy) {
  Gradients sums;
  for (std::int64_t g = 0; g < s.blocks; ++g) {
    for (std::int64_t i = 0; i < s.kernel_height; ++i) {
      for (std::int64_t j = 0; j < s.kernel_width; ++j) {
        for (std::int64_t c = 0; c < s.block; ++c) {
          double sum = 0;
          for (std::int64_t n = 0; n < s.samples; ++n) {
            for (std::int64_t p = 0; p < s.out_height * s.out_width; ++p) {
              const std::int64_t h = p / s.out_width * s.stride_height + i * s.dilation_height - s.pad_top;
              const std::int64_t w = p % s.out_width * s.stride_width + j * s.dilation_width - s.pad_left;
              if (h < 0 || h >= s.height || w < 0 || w >= s.width) continue;
              const std::size_t from = s.one_channel
                                           ? static_cast<std::size_t>((n * s.height + h) * s.width + w)
                                           : at(s, s.height * s.width, n, g, h * s.width + w, c);
              sum += static_cast<double>(dy[at(s, s.out_height * s.out_width, n, g, p, c)]) *
                     static_cast<double>(x[from]);
            }
          }
          sums.weight.push_back(sum);
        }
      }
    }
    for (std::int64_t c = 0; c < s.block; ++c) {
      double sum = 0;
      for (std::int64_t n = 0; n < s.samples; ++n) {
        for (std::int64_t p = 0; p < s.out_height * s.out_width; ++p) {
          sum += static_cast<double>(dy[at(s, s.out_height * s.out_width, n, g, p, c)]);
        }
      }
      sums.bias.push_back(sum);
    }
  }
  return sums;
}

template <class T>
void compare(const DepthwiseShape& s) {
  CAPTURE(s.block, s.one_channel, s.kernel_height, s.kernel_width, s.stride_width, s.dilation_width, s.width);
  REQUIRE(s.supported());
  RandomStream random({7, Purpose::kBench, 0, 0});
  const auto draw = [&](std::int64_t pixels) {
    std::vector<T> values;
    for (std::int64_t i = 0; i < s.samples * s.blocks * pixels * s.block; ++i)
      values.push_back(static_cast<float>(random.normal()));
    return values;
  };
  const std::vector<T> x = draw(s.height * s.width), dy = draw(s.out_height * s.out_width);
  const Gradients expected = slow(s, x, dy);
  std::vector<float> weight(expected.weight.size(), NAN), bias(expected.bias.size(), NAN);
  kernels<DepthwiseKernels<T>>().backward_weights(s, x.data(), dy.data(), weight.data(), bias.data());
  const double terms = static_cast<double>(s.samples * s.out_height * s.out_width);
  double worst = 0;
  for (std::size_t i = 0; i < weight.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(weight[i]) - expected.weight[i]));
  for (std::size_t i = 0; i < bias.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(bias[i]) - expected.bias[i]));
  CHECK(worst < 1e-6 * terms);  // fails for NaN

  std::vector<float> alone(weight.size(), NAN);
  kernels<DepthwiseKernels<T>>().backward_weights(s, x.data(), dy.data(), alone.data(), nullptr);
  CHECK(alone == weight);
}

void compare_all(DepthwiseShape shape) {
  for (const bool one_channel : {false, true}) {
    shape.one_channel = one_channel;
    compare<float>(shape);
    compare<Bf16>(shape);
  }
}

/// Returns a square kernel with "same" padding.
DepthwiseShape same(std::int64_t block, std::int64_t height, std::int64_t width, std::int64_t kernel,
                    std::int64_t stride, std::int64_t dilation) {
  const std::int64_t pad = (kernel - 1) * dilation / 2;
  return {.samples = 2,
          .blocks = 2,
          .block = block,
          .height = height,
          .width = width,
          .out_height = (height - 1) / stride + 1,
          .out_width = (width - 1) / stride + 1,
          .kernel_height = kernel,
          .kernel_width = kernel,
          .stride_height = stride,
          .stride_width = stride,
          .dilation_height = dilation,
          .dilation_width = dilation,
          .pad_top = pad,
          .pad_left = pad};
}

}  // namespace

TEST_CASE("depthwise weight gradients: kernels, strides, dilations, borders") {
  for (const std::int64_t block : {8, 16}) {
    for (const std::int64_t kernel : {1, 3, 4, 5, 7}) {
      compare_all(same(block, 9, 6, kernel, 1, 1));
      compare_all(same(block, 9, 6, kernel, 2, 1));
    }
    compare_all(same(block, 8, 9, 3, 1, 2));
    compare_all(same(block, 11, 9, 5, 3, 2));
    compare_all(same(block, 3, 2, 5, 1, 1));    // smaller than the kernel
    compare_all(same(block, 2, 230, 5, 1, 1));  // a row of several pieces
    compare_all(same(block, 2, 231, 5, 2, 1));
    DepthwiseShape oblong = same(block, 7, 9, 3, 1, 1);
    oblong.kernel_height = 2;
    oblong.out_height = 8;
    oblong.stride_width = 2;
    oblong.out_width = 5;
    compare_all(oblong);
  }
}

TEST_CASE("depthwise weight gradients: shapes that the kernel does not support") {
  CHECK_FALSE(DepthwiseShape{}.supported());
  CHECK_FALSE(same(4, 9, 9, 3, 1, 1).supported());
  CHECK_FALSE(same(16, 9, 9, 8, 1, 1).supported());
  CHECK_FALSE(same(16, 200, 200, 3, 1, 48).supported());
}
