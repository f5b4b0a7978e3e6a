#include "nn/zoo/zoo.hpp"

#include <fmt/format.h>

#include <array>

#include "nn/zoo/blocks.hpp"

namespace convoke::nn {
namespace {

constexpr std::int64_t kGrowth = 32;           // channels that a layer adds
constexpr std::int64_t kNarrow = 4 * kGrowth;  // channels of the layer's 1 x 1 convolution

Symbol norm_relu(Symbol x, const std::string& name) { return relu(apply(BatchNorm(kTorchNorm), x, name)); }

/// Concatenates the input with the output of a 1x1 and a 3x3 convolution of it.
Symbol dense_layer(Symbol x, const std::string& name) {
  Symbol y = kaiming_conv(norm_relu(x, name + ".norm1"), kNarrow, 1, 1, name + ".conv1");
  y = kaiming_conv(norm_relu(y, name + ".norm2"), kGrowth, 3, 1, name + ".conv2");
  return concat({x, y});
}

/// Halves channels and size.
Symbol transition(Symbol x, const std::string& name) {
  const std::int64_t half = shape_of(x)[0] / 2;
  return average_pool(kaiming_conv(norm_relu(x, name + ".norm"), half, 1, 1, name + ".conv"));
}

}  // namespace

Symbol densenet(Symbol x, const ZooOptions& options, int layers) {
  using Depths = std::array<int, 4>;  // layers of each block
  const Depths depths = layers == 121   ? Depths{6, 12, 24, 16}
                        : layers == 169 ? Depths{6, 12, 32, 32}
                                        : Depths{6, 12, 48, 32};
  x = kaiming_conv(x, 2 * kGrowth, 7, 2, "features.conv0");
  x = max_pool(norm_relu(x, "features.norm0"), {.size = 3, .stride = 2, .padding = Padding::by(1)});
  for (std::size_t block = 1; block <= depths.size(); ++block) {
    for (int layer = 1; layer <= depths[block - 1]; ++layer) {
      x = dense_layer(x, fmt::format("features.denseblock{}.denselayer{}", block, layer));
    }
    if (block < depths.size()) x = transition(x, fmt::format("features.transition{}", block));
  }
  x = norm_relu(x, "features.norm5");
  return head(global_average_pool(x), options, {.weight = "torch_default"});
}

}  // namespace convoke::nn
