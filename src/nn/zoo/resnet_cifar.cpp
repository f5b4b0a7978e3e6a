#include "nn/zoo/zoo.hpp"

#include <fmt/format.h>

#include "convoke/nn/layers/activation.hpp"
#include "convoke/nn/layers/batch_norm.hpp"
#include "convoke/nn/layers/concat.hpp"
#include "convoke/nn/layers/merge.hpp"
#include "convoke/nn/layers/pool.hpp"
#include "convoke/nn/layers/rescale.hpp"
#include "nn/zoo/head.hpp"

namespace convoke::nn {
namespace {

Symbol cifar_norm(Symbol x, const std::string& name) {
  return apply(BatchNorm({.momentum = 0.9, .epsilon = 1e-5}), x, name);
}

bool changes_shape(Symbol x, std::int64_t filters, std::int64_t stride) {
  return stride != 1 || shape_of(x)[0] != filters;
}

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

using CifarBlock = Symbol (*)(Symbol x, std::int64_t width, std::int64_t stride, const std::string& block);

/// Three stages of `depth` blocks each, at 32 x 32, 16 x 16 and 8 x 8.
Symbol stages(Symbol x, CifarBlock block, std::int64_t width, int depth) {
  for (int stage = 0; stage < 3; ++stage, width *= 2) {
    for (int i = 0; i < depth; ++i) {
      x = block(x, width, stage > 0 && i == 0 ? 2 : 1, fmt::format("layer{}.{}", stage + 1, i));
    }
  }
  return x;
}

Symbol cifar_resnet(Symbol x, const ZooOptions& options, int depth) {
  x = relu(cifar_norm(kaiming_conv(x, 16, 3, 1, "conv1"), "bn1"));
  x = stages(x, cifar_basic_block, 16, depth);
  return head(global_average_pool(x), options, {.weight = "kaiming_normal"});
}

}  // namespace

Symbol resnet20(Symbol x, const ZooOptions& options) { return cifar_resnet(x, options, 3); }
Symbol resnet56(Symbol x, const ZooOptions& options) { return cifar_resnet(x, options, 9); }

Symbol wide_resnet_28_10(Symbol x, const ZooOptions& options) {
  x = kaiming_conv(x, 16, 3, 1, "conv1");
  x = stages(x, wide_block, 160, 4);
  x = relu(cifar_norm(x, "bn"));
  return head(global_average_pool(x), options, {.weight = "kaiming_normal"});
}

}  // namespace convoke::nn
