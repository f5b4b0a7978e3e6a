#include "nn/zoo/zoo.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/nn/layers/activation.hpp"
#include "convoke/nn/layers/merge.hpp"
#include "convoke/nn/layers/pool.hpp"
#include "nn/zoo/blocks.hpp"

namespace convoke::nn {
namespace {

using Depths = std::array<int, 4>;  // blocks in layer1 .. layer4

/// Returns the input of a block for its sum: the input itself, or its projection if the shape changes.
Symbol shortcut(Symbol x, std::int64_t filters, std::int64_t stride, const std::string& block) {
  if (stride == 1 && shape_of(x)[0] == filters) return x;
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

using Block = Symbol (*)(Symbol x, std::int64_t width, std::int64_t stride, const std::string& block);

Symbol resnet(Symbol x, const ZooOptions& options, Block block, const Depths& depths) {
  x = relu(conv_norm(x, {.filters = 64, .kernel = 7, .stride = 2}, "conv1", "bn1"));
  x = max_pool(x, {.size = 3, .stride = 2, .padding = Padding::by(1)});
  std::int64_t width = 64;
  for (std::size_t stage = 0; stage < depths.size(); ++stage, width *= 2) {
    for (int i = 0; i < depths[stage]; ++i) {
      x = block(x, width, stage > 0 && i == 0 ? 2 : 1, fmt::format("layer{}.{}", stage + 1, i));
    }
  }
  const Initializer start("torch_default");
  return head(global_average_pool(x), options, {.weight = start, .bias = start});
}

}  // namespace

Symbol resnet18(Symbol x, const ZooOptions& options) { return resnet(x, options, basic_block, {2, 2, 2, 2}); }
Symbol resnet34(Symbol x, const ZooOptions& options) { return resnet(x, options, basic_block, {3, 4, 6, 3}); }
Symbol resnet50(Symbol x, const ZooOptions& options) { return resnet(x, options, bottleneck, {3, 4, 6, 3}); }
Symbol resnet101(Symbol x, const ZooOptions& options) {
  return resnet(x, options, bottleneck, {3, 4, 23, 3});
}
Symbol resnet152(Symbol x, const ZooOptions& options) {
  return resnet(x, options, bottleneck, {3, 8, 36, 3});
}

}  // namespace convoke::nn
