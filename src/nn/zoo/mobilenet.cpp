#include "nn/zoo/zoo.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

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

namespace {

/// A row of the paper's tables.
struct MobileNetV3Row {
  std::int64_t kernel, expanded, filters;
  bool excite;
  UnaryLayer activation;
  std::int64_t stride;
};

const std::vector<MobileNetV3Row> kLarge{
    {3, 16, 16, false, relu, 1},        {3, 64, 24, false, relu, 2},
    {3, 72, 24, false, relu, 1},        {5, 72, 40, true, relu, 2},
    {5, 120, 40, true, relu, 1},        {5, 120, 40, true, relu, 1},
    {3, 240, 80, false, hard_swish, 2}, {3, 200, 80, false, hard_swish, 1},
    {3, 184, 80, false, hard_swish, 1}, {3, 184, 80, false, hard_swish, 1},
    {3, 480, 112, true, hard_swish, 1}, {3, 672, 112, true, hard_swish, 1},
    {5, 672, 160, true, hard_swish, 2}, {5, 960, 160, true, hard_swish, 1},
    {5, 960, 160, true, hard_swish, 1},
};

const std::vector<MobileNetV3Row> kSmall{
    {3, 16, 16, true, relu, 2},        {3, 72, 24, false, relu, 2},       {3, 88, 24, false, relu, 1},
    {5, 96, 40, true, hard_swish, 2},  {5, 240, 40, true, hard_swish, 1}, {5, 240, 40, true, hard_swish, 1},
    {5, 120, 48, true, hard_swish, 1}, {5, 144, 48, true, hard_swish, 1}, {5, 288, 96, true, hard_swish, 2},
    {5, 576, 96, true, hard_swish, 1}, {5, 576, 96, true, hard_swish, 1},
};

const BatchNormOptions kNorm{.momentum = 0.99, .epsilon = 1e-3};

Symbol mobilenet_v3(Symbol x, const ZooOptions& options, const std::vector<MobileNetV3Row>& rows,
                    std::int64_t hidden) {
  x = conv_norm(x, {.filters = 16, .kernel = 3, .stride = 2, .activation = hard_swish, .norm = kNorm},
                "features.0");
  int part = 1;
  for (const MobileNetV3Row& row : rows) {
    const std::int64_t squeezed = row.excite ? multiple_of_8(static_cast<double>(row.expanded / 4)) : 0;
    x = inverted_residual(x,
                          {.kernel = row.kernel,
                           .expanded = row.expanded,
                           .filters = row.filters,
                           .stride = row.stride,
                           .activation = row.activation,
                           .excite = {.squeezed = squeezed, .activation = relu, .gate = hard_sigmoid},
                           .norm = kNorm},
                          torch_names(fmt::format("features.{}.block", part++)));
  }
  x = conv_norm(x, {.filters = 6 * shape_of(x)[0], .activation = hard_swish, .norm = kNorm},
                fmt::format("features.{}", part));
  x = global_average_pool(x);
  const Initializers start{.weight = Initializer(Settings{{"name", "normal"}, {"stddev", 0.01}})};
  if (options.head) {
    x = hard_swish(apply(Dense({.units = hidden, .initializers = start}), x, "classifier.0"));
    x = dropout(x, 0.2);
  }
  return head(x, options, start);
}

}  // namespace

Symbol mobilenet_v3_large(Symbol x, const ZooOptions& options) {
  return mobilenet_v3(x, options, kLarge, 1280);
}
Symbol mobilenet_v3_small(Symbol x, const ZooOptions& options) {
  return mobilenet_v3(x, options, kSmall, 1024);
}

}  // namespace convoke::nn
