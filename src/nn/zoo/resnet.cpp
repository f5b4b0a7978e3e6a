#include "nn/zoo/zoo.hpp"

#include <fmt/format.h>

#include <vector>

#include "nn/zoo/blocks.hpp"

namespace convoke::nn {
namespace {

/// A block whose first convolution has `stride`; its nodes are "<block>...".
using ResNetBlock = Symbol (*)(Symbol x, std::int64_t width, std::int64_t stride, const std::string& block);
using BlockName = std::string (*)(std::size_t stage, int block);  // both counted from 0

/// `depths` blocks in each stage; each stage has twice the width of the one before.
Symbol stages(Symbol x, ResNetBlock block, std::int64_t width, const std::vector<int>& depths,
              BlockName name) {
  for (std::size_t stage = 0; stage < depths.size(); ++stage, width *= 2) {
    for (int i = 0; i < depths[stage]; ++i) x = block(x, width, stage > 0 && i == 0 ? 2 : 1, name(stage, i));
  }
  return x;
}

std::string torch_block(std::size_t stage, int block) { return fmt::format("layer{}.{}", stage + 1, block); }
std::string keras_block(std::size_t stage, int block) {
  return fmt::format("conv{}_block{}", stage + 2, block + 1);
}

/// Returns the blocks of each stage of the networks for ImageNet.
std::vector<int> depths_of(int layers) {
  if (layers == 18) return {2, 2, 2, 2};
  if (layers == 101) return {3, 4, 23, 3};
  if (layers == 152) return {3, 8, 36, 3};
  return {3, 4, 6, 3};  // 34 and 50
}

/// The pooling of the stem. Keras pads with zeroes, not with empty places. After a ReLU both give the same
/// result.
Symbol stem_pool(Symbol x) { return max_pool(x, {.size = 3, .stride = 2, .padding = Padding::by(1)}); }

bool changes_shape(Symbol x, std::int64_t filters, std::int64_t stride) {
  return stride != 1 || shape_of(x)[0] != filters;
}

/// Returns the input of a block for its sum: the input itself, or its projection if the shape changes.
Symbol shortcut(Symbol x, std::int64_t filters, std::int64_t stride, const std::string& block) {
  if (!changes_shape(x, filters, stride)) return x;
  return conv_norm(x, {.filters = filters, .stride = stride}, block + ".downsample.0",
                   block + ".downsample.1");
}

/// 3x3, 3x3, both of `width` channels.
Symbol basic_block(Symbol x, std::int64_t width, std::int64_t stride, const std::string& block) {
  Symbol y =
      relu(conv_norm(x, {.filters = width, .kernel = 3, .stride = stride}, block + ".conv1", block + ".bn1"));
  y = conv_norm(y, {.filters = width, .kernel = 3}, block + ".conv2", block + ".bn2");
  return relu(add(y, shortcut(x, width, stride, block)));
}

/// 1x1, 3x3, 1x1 to four times the width.
Symbol bottleneck(Symbol x, std::int64_t width, std::int64_t stride, const std::string& block) {
  Symbol y = relu(conv_norm(x, {.filters = width}, block + ".conv1", block + ".bn1"));
  y = relu(conv_norm(y, {.filters = width, .kernel = 3, .stride = stride}, block + ".conv2", block + ".bn2"));
  y = conv_norm(y, {.filters = 4 * width}, block + ".conv3", block + ".bn3");
  return relu(add(y, shortcut(x, 4 * width, stride, block)));
}

Symbol cifar_norm(Symbol x, const std::string& name) { return apply(BatchNorm(kTorchNorm), x, name); }

/// Option A: every other row and column, and zeroes for the new channels; it has no parameters.
Symbol padded_shortcut(Symbol x, std::int64_t stride) {
  x = average_pool(x, {.size = 1, .stride = stride});
  return concat({x, rescale(x, {.scale = 0})});
}

/// 3x3, 3x3, with batch norm after each.
Symbol cifar_basic_block(Symbol x, std::int64_t width, std::int64_t stride, const std::string& block) {
  Symbol y = relu(cifar_norm(kaiming_conv(x, width, 3, stride, block + ".conv1"), block + ".bn1"));
  y = cifar_norm(kaiming_conv(y, width, 3, 1, block + ".conv2"), block + ".bn2");
  return relu(add(y, changes_shape(x, width, stride) ? padded_shortcut(x, stride) : x));
}

/// 3x3, 3x3, with batch norm and ReLU before each. A projection has the same input as the first convolution.
Symbol wide_block(Symbol x, std::int64_t width, std::int64_t stride, const std::string& block) {
  const Symbol active = relu(cifar_norm(x, block + ".bn1"));
  Symbol y = relu(cifar_norm(kaiming_conv(active, width, 3, stride, block + ".conv1"), block + ".bn2"));
  y = kaiming_conv(y, width, 3, 1, block + ".conv2");
  if (changes_shape(x, width, stride)) x = kaiming_conv(active, width, 1, stride, block + ".shortcut");
  return add(y, x);
}

Symbol keras_conv_norm(Symbol x, const Conv2dOptions& convolution, const std::string& name) {
  x = apply(Conv2d(convolution), x, name + "_conv");
  return apply(BatchNorm({.momentum = 0.99, .epsilon = 1.001e-5}), x, name + "_bn");
}

/// 1x1, 3x3, 1x1 to four times the width. The first block of a stage projects its input.
Symbol keras_bottleneck(Symbol x, std::int64_t width, std::int64_t stride, const std::string& block) {
  Symbol sum = x;
  if (changes_shape(x, 4 * width, stride))
    sum = keras_conv_norm(x, {.filters = 4 * width, .kernel = 1, .stride = stride}, block + "_0");
  x = relu(keras_conv_norm(x, {.filters = width, .kernel = 1, .stride = stride}, block + "_1"));
  x = relu(keras_conv_norm(x, {.filters = width, .kernel = 3, .padding = Padding::same()}, block + "_2"));
  x = keras_conv_norm(x, {.filters = 4 * width, .kernel = 1}, block + "_3");
  return relu(add(sum, x));
}

}  // namespace

Symbol resnet(Symbol x, const ZooOptions& options, int layers) {
  x = stem_pool(relu(conv_norm(x, {.filters = 64, .kernel = 7, .stride = 2}, "conv1", "bn1")));
  x = stages(x, layers < 50 ? basic_block : bottleneck, 64, depths_of(layers), torch_block);
  const Initializer start("torch_default");
  return head(global_average_pool(x), options, {.weight = start, .bias = start});
}

Symbol resnet_keras(Symbol x, const ZooOptions& options, int layers) {
  x = relu(keras_conv_norm(zero_pad(x, 3), {.filters = 64, .kernel = 7, .stride = 2}, "conv1"));
  x = stages(stem_pool(x), keras_bottleneck, 64, depths_of(layers), keras_block);
  return head(global_average_pool(x), options);
}

Symbol resnet_cifar(Symbol x, const ZooOptions& options, int layers) {
  const int n = (layers - 2) / 6;
  x = relu(cifar_norm(kaiming_conv(x, 16, 3, 1, "conv1"), "bn1"));
  x = stages(x, cifar_basic_block, 16, {n, n, n}, torch_block);
  return head(global_average_pool(x), options, {.weight = "kaiming_normal"});
}

Symbol wide_resnet_28_10(Symbol x, const ZooOptions& options) {
  x = kaiming_conv(x, 16, 3, 1, "conv1");
  x = stages(x, wide_block, 160, {4, 4, 4}, torch_block);
  x = relu(cifar_norm(x, "bn"));
  return head(global_average_pool(x), options, {.weight = "kaiming_normal"});
}

}  // namespace convoke::nn
