#include "nn/zoo/zoo.hpp"

#include <fmt/format.h>

#include <array>

#include "nn/zoo/blocks.hpp"

namespace convoke::nn {
namespace {

struct MobileNetV1Row {
  std::int64_t filters, stride;
};
constexpr std::array kRows{
    MobileNetV1Row{64, 1},   MobileNetV1Row{128, 2}, MobileNetV1Row{128, 1}, MobileNetV1Row{256, 2},
    MobileNetV1Row{256, 1},  MobileNetV1Row{512, 2}, MobileNetV1Row{512, 1}, MobileNetV1Row{512, 1},
    MobileNetV1Row{512, 1},  MobileNetV1Row{512, 1}, MobileNetV1Row{512, 1}, MobileNetV1Row{1024, 2},
    MobileNetV1Row{1024, 1},
};

Symbol norm_relu6(Symbol x, const std::string& name) { return relu6(apply(BatchNorm(), x, name)); }

/// 3x3 for each channel, then 1x1 over the channels, each with batch norm and ReLU6. Rows and columns that a
/// stride needs are added at the bottom and on the right, even where "same" would add none.
Symbol depthwise_separable(Symbol x, const MobileNetV1Row& row, int block) {
  const Padding padding = row.stride == 1 ? Padding::same() : Padding::by(0, 1);
  const std::string depth = fmt::format("conv_dw_{}", block), point = fmt::format("conv_pw_{}", block);
  x = apply(DepthwiseConv2d({.kernel = 3, .stride = row.stride, .padding = padding, .bias = false}), x,
            depth);
  x = norm_relu6(x, depth + "_bn");
  x = apply(Conv2d({.filters = row.filters, .kernel = 1, .bias = false}), x, point);
  return norm_relu6(x, point + "_bn");
}

}  // namespace

Symbol mobilenet_v1(Symbol x, const ZooOptions& options) {
  x = apply(Conv2d({.filters = 32, .kernel = 3, .stride = 2, .padding = Padding::same(), .bias = false}), x,
            "conv1");
  x = norm_relu6(x, "conv1_bn");
  int block = 1;
  for (const MobileNetV1Row& row : kRows) x = depthwise_separable(x, row, block++);
  x = global_average_pool(x);
  if (options.head) x = dropout(x, 1e-3);
  return head(x, options);
}

}  // namespace convoke::nn
