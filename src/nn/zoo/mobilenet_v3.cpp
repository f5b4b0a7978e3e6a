#include "nn/zoo/zoo.hpp"

#include <fmt/format.h>

#include <vector>

#include "nn/zoo/blocks.hpp"

namespace convoke::nn {
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
