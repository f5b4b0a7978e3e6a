#include "nn/zoo/zoo.hpp"

#include <fmt/format.h>

#include <array>

#include "nn/zoo/blocks.hpp"

namespace convoke::nn {
namespace {

/// `blocks` inverted residuals with `filters` channels, the first with `stride`.
struct MobileNetV2Stage {
  std::int64_t expansion, filters;
  int blocks;
  std::int64_t stride;
};
constexpr std::array kMobileNetV2Stages{
    MobileNetV2Stage{1, 16, 1, 1},  MobileNetV2Stage{6, 24, 2, 2}, MobileNetV2Stage{6, 32, 3, 2},
    MobileNetV2Stage{6, 64, 4, 2},  MobileNetV2Stage{6, 96, 3, 1}, MobileNetV2Stage{6, 160, 3, 2},
    MobileNetV2Stage{6, 320, 1, 1},
};

}  // namespace

Symbol mobilenet_v2(Symbol x, const ZooOptions& options) {
  x = conv_norm(x, {.filters = 32, .kernel = 3, .stride = 2, .activation = relu6}, "features.0");
  int part = 1;
  for (const MobileNetV2Stage& stage : kMobileNetV2Stages) {
    for (int i = 0; i < stage.blocks; ++i) {
      x = inverted_residual(x,
                            {.expanded = stage.expansion * shape_of(x)[0],
                             .filters = stage.filters,
                             .stride = i == 0 ? stage.stride : 1,
                             .activation = relu6},
                            torch_names(fmt::format("features.{}.conv", part++), true));
    }
  }
  x = conv_norm(x, {.filters = 1280, .activation = relu6}, fmt::format("features.{}", part));
  x = global_average_pool(x);
  if (options.head) x = dropout(x, 0.2);
  return head(x, options, {.weight = Initializer(Settings{{"name", "normal"}, {"stddev", 0.01}})});
}

}  // namespace convoke::nn
