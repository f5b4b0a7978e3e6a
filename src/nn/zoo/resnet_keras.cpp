#include "nn/zoo/zoo.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/nn/layers/activation.hpp"
#include "convoke/nn/layers/batch_norm.hpp"
#include "convoke/nn/layers/border.hpp"
#include "convoke/nn/layers/conv2d.hpp"
#include "convoke/nn/layers/merge.hpp"
#include "convoke/nn/layers/pool.hpp"
#include "nn/zoo/head.hpp"

namespace convoke::nn {
namespace {

Symbol keras_conv_norm(Symbol x, const Conv2dOptions& convolution, const std::string& name) {
  x = apply(Conv2d(convolution), x, name + "_conv");
  return apply(BatchNorm({.momentum = 0.99, .epsilon = 1.001e-5}), x, name + "_bn");
}

/// 1x1, 3x3, 1x1 to four times the width. The first block of a stage projects its input.
Symbol keras_bottleneck(Symbol x, std::int64_t width, std::int64_t stride, bool first,
                        const std::string& block) {
  Symbol sum = x;
  if (first) sum = keras_conv_norm(x, {.filters = 4 * width, .kernel = 1, .stride = stride}, block + "_0");
  x = relu(keras_conv_norm(x, {.filters = width, .kernel = 1, .stride = stride}, block + "_1"));
  x = relu(keras_conv_norm(x, {.filters = width, .kernel = 3, .padding = Padding::same()}, block + "_2"));
  x = keras_conv_norm(x, {.filters = 4 * width, .kernel = 1}, block + "_3");
  return relu(add(sum, x));
}

}  // namespace

Symbol resnet_keras(Symbol x, const ZooOptions& options, int layers) {
  using Depths = std::array<int, 4>;  // blocks of each stage
  const Depths depths = layers == 50    ? Depths{3, 4, 6, 3}
                        : layers == 101 ? Depths{3, 4, 23, 3}
                                        : Depths{3, 8, 36, 3};
  x = zero_pad(x, 3);
  x = relu(keras_conv_norm(x, {.filters = 64, .kernel = 7, .stride = 2}, "conv1"));
  // Keras pads with zeroes, not with empty places. After a ReLU both give the same result.
  x = max_pool(x, {.size = 3, .stride = 2, .padding = Padding::by(1)});
  std::int64_t width = 64;
  for (std::size_t stage = 0; stage < depths.size(); ++stage, width *= 2) {
    for (int i = 0; i < depths[stage]; ++i) {
      const std::string block = fmt::format("conv{}_block{}", stage + 2, i + 1);
      x = keras_bottleneck(x, width, stage > 0 && i == 0 ? 2 : 1, i == 0, block);
    }
  }
  return head(global_average_pool(x), options);
}

}  // namespace convoke::nn
