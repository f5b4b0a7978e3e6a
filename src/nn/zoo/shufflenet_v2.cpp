#include "nn/zoo/zoo.hpp"

#include <fmt/format.h>

#include <array>

#include "nn/zoo/blocks.hpp"

namespace convoke::nn {
namespace {

struct ShuffleNetStage {
  int blocks;
  std::int64_t filters;
};
constexpr std::array kShuffleNetStages{ShuffleNetStage{4, 116}, ShuffleNetStage{8, 232},
                                       ShuffleNetStage{4, 464}};

Conv2dOptions pointwise(std::int64_t filters) { return {.filters = filters, .kernel = 1}; }
Conv2dOptions depthwise(std::int64_t channels, std::int64_t stride) {
  return {.filters = channels, .kernel = 3, .stride = stride, .padding = Padding::by(1), .groups = channels};
}

/// A convolution and its batch norm: the nodes "<name>.<i>" and "<name>.<i + 1>".
Symbol shuffle_conv_norm(Symbol x, Conv2dOptions options, const std::string& name, int i) {
  options.bias = false;
  options.initializers.weight = "torch_default";
  x = apply(Conv2d(options), x, fmt::format("{}.{}", name, i));
  return apply(BatchNorm(kTorchNorm), x, fmt::format("{}.{}", name, i + 1));
}

/// 1x1, 3x3 depthwise, 1x1.
Symbol branch(Symbol x, std::int64_t filters, std::int64_t stride, const std::string& name) {
  x = relu(shuffle_conv_norm(x, pointwise(filters), name, 0));
  x = shuffle_conv_norm(x, depthwise(filters, stride), name, 3);
  return relu(shuffle_conv_norm(x, pointwise(filters), name, 5));
}

/// Half of the channels bypass the branch, figure 3 (c).
Symbol basic_unit(Symbol x, std::int64_t filters, const std::string& name) {
  const std::vector<Symbol> halves = split(x, 2);
  return channel_shuffle(concat({halves[0], branch(halves[1], filters / 2, 1, name + ".branch2")}), 2);
}

/// Halves the size: both branches read all channels, figure 3 (d).
Symbol halving_unit(Symbol x, std::int64_t filters, const std::string& name) {
  Symbol left = shuffle_conv_norm(x, depthwise(shape_of(x)[0], 2), name + ".branch1", 0);
  left = relu(shuffle_conv_norm(left, pointwise(filters / 2), name + ".branch1", 2));
  return channel_shuffle(concat({left, branch(x, filters / 2, 2, name + ".branch2")}), 2);
}

}  // namespace

Symbol shufflenet_v2(Symbol x, const ZooOptions& options) {
  x = relu(
      shuffle_conv_norm(x, {.filters = 24, .kernel = 3, .stride = 2, .padding = Padding::by(1)}, "conv1", 0));
  x = max_pool(x, {.size = 3, .stride = 2, .padding = Padding::by(1)});
  int number = 2;
  for (const ShuffleNetStage& stage : kShuffleNetStages) {
    for (int i = 0; i < stage.blocks; ++i) {
      const std::string name = fmt::format("stage{}.{}", number, i);
      x = i == 0 ? halving_unit(x, stage.filters, name) : basic_unit(x, stage.filters, name);
    }
    ++number;
  }
  x = relu(shuffle_conv_norm(x, pointwise(1024), "conv5", 0));
  return head(global_average_pool(x), options, {.weight = "torch_default", .bias = "torch_default"});
}

}  // namespace convoke::nn
