#include "nn/zoo/zoo.hpp"

#include <fmt/format.h>

#include "nn/zoo/blocks.hpp"

namespace convoke::nn {
namespace {

Symbol xception_conv(Symbol x, std::int64_t filters, std::int64_t stride, const std::string& name) {
  x = apply(Conv2d({.filters = filters, .kernel = 3, .stride = stride, .bias = false}), x, name);
  return relu(apply(BatchNorm(), x, name + "_bn"));
}

/// The node "block<n>_sepconv<i>" and its batch norm.
Symbol xception_separable(Symbol x, std::int64_t filters, int block, int i) {
  const std::string name = fmt::format("block{}_sepconv{}", block, i);
  x = apply(SeparableConv2d({.filters = filters, .kernel = 3, .padding = Padding::same(), .bias = false}), x,
            name);
  return apply(BatchNorm(), x, name + "_bn");
}

/// Two separable convolutions and a pooling, with a strided 1 x 1 convolution as shortcut.
Symbol halving_block(Symbol x, std::int64_t inner, std::int64_t filters, int block) {
  const Symbol residual = batch_norm(
      conv2d(x, {.filters = filters, .kernel = 1, .stride = 2, .padding = Padding::same(), .bias = false}));
  Symbol y = block == 2 ? x : relu(x);  // block 1 ends in a ReLU
  y = xception_separable(relu(xception_separable(y, inner, block, 1)), filters, block, 2);
  return add(max_pool(y, {.size = 3, .stride = 2, .padding = Padding::same()}), residual);
}

Symbol middle_block(Symbol x, int block) {
  Symbol y = x;
  for (int i = 1; i <= 3; ++i) y = xception_separable(relu(y), 728, block, i);
  return add(y, x);
}

}  // namespace

Symbol xception(Symbol x, const ZooOptions& options) {
  // Entry flow.
  x = xception_conv(x, 32, 2, "block1_conv1");
  x = xception_conv(x, 64, 1, "block1_conv2");
  x = halving_block(x, 128, 128, 2);
  x = halving_block(x, 256, 256, 3);
  x = halving_block(x, 728, 728, 4);
  // Middle flow.
  for (int block = 5; block <= 12; ++block) x = middle_block(x, block);
  // Exit flow.
  x = halving_block(x, 728, 1024, 13);
  x = relu(xception_separable(x, 1536, 14, 1));
  x = relu(xception_separable(x, 2048, 14, 2));
  return head(global_average_pool(x), options);
}

}  // namespace convoke::nn
