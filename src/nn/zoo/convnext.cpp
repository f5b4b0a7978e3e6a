#include "nn/zoo/zoo.hpp"

#include <fmt/format.h>

#include <array>

#include "nn/zoo/blocks.hpp"

namespace convoke::nn {
namespace {

struct ConvNextStage {
  std::int64_t channels;
  int blocks;
};
constexpr std::array kTiny{ConvNextStage{96, 3}, ConvNextStage{192, 3}, ConvNextStage{384, 9},
                           ConvNextStage{768, 3}};
constexpr double kConvNextLastDrop = 0.1;  // stochastic depth rises linearly from 0 to it

Initializers convnext_initializers() {
  return {.weight = Initializer(Settings{{"name", "truncated_normal"}, {"stddev", 0.02}})};
}

Symbol convnext_conv(Symbol x, Conv2dOptions options, const std::string& name) {
  options.initializers = convnext_initializers();
  return apply(Conv2d(options), x, name);
}

Symbol convnext_norm(Symbol x, const std::string& name) {
  const bool image = shape_of(x).rank() == 3;
  const auto axis = image ? LayerNormOptions::Over::kChannels : LayerNormOptions::Over::kFeatures;
  return apply(LayerNorm({.axis = axis, .epsilon = 1e-6}), x, name);
}

/// Figure 4: 7x7 depthwise, layer norm, 1x1 to four times the channels, GELU, 1x1 back, channel scale.
Symbol block(Symbol x, double drop, const std::string& name) {
  const std::int64_t channels = shape_of(x)[0];
  Symbol y =
      convnext_conv(x, {.filters = channels, .kernel = 7, .padding = Padding::by(3), .groups = channels},
                    name + ".block.0");
  y = convnext_norm(y, name + ".block.2");
  y = gelu(convnext_conv(y, {.filters = 4 * channels, .kernel = 1}, name + ".block.3"));
  y = convnext_conv(y, {.filters = channels, .kernel = 1}, name + ".block.5");
  y = apply(ChannelScale(), y, name + ".layer_scale");
  return add(drop > 0 ? stochastic_depth(y, drop) : y, x);
}

}  // namespace

Symbol convnext_tiny(Symbol x, const ZooOptions& options) {
  // Stem.
  x = convnext_conv(x, {.filters = kTiny[0].channels, .kernel = 4, .stride = 4}, "features.0.0");
  x = convnext_norm(x, "features.0.1");
  int all = 0, done = 0, part = 1;
  for (const ConvNextStage& stage : kTiny) all += stage.blocks;
  for (const ConvNextStage& stage : kTiny) {
    if (part > 1) {
      const std::string halve = fmt::format("features.{}", part++);
      x = convnext_norm(x, halve + ".0");
      x = convnext_conv(x, {.filters = stage.channels, .kernel = 2, .stride = 2}, halve + ".1");
    }
    for (int i = 0; i < stage.blocks; ++i, ++done) {
      x = block(x, kConvNextLastDrop * done / (all - 1), fmt::format("features.{}.{}", part, i));
    }
    ++part;
  }
  x = convnext_norm(global_average_pool(x), "classifier.0");
  return head(x, options, convnext_initializers());
}

}  // namespace convoke::nn
