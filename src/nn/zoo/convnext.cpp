#include "nn/zoo/convnext.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/nn/layers/activation.hpp"
#include "convoke/nn/layers/channel_scale.hpp"
#include "convoke/nn/layers/conv2d.hpp"
#include "convoke/nn/layers/layer_norm.hpp"
#include "convoke/nn/layers/pool.hpp"
#include "convoke/nn/layers/stochastic_depth.hpp"
#include "convoke/nn/layers/structure.hpp"
#include "nn/zoo/head.hpp"

namespace convoke::nn {
namespace {

struct Stage {
  std::int64_t channels;
  int blocks;
};
constexpr std::array kTiny{Stage{96, 3}, Stage{192, 3}, Stage{384, 9}, Stage{768, 3}};
constexpr double kLastDrop = 0.1;  // stochastic depth rises linearly from 0 to it

Initializers start() {
  return {.weight = Initializer(Settings{{"name", "truncated_normal"}, {"stddev", 0.02}})};
}

Symbol conv(Symbol x, Conv2dOptions options, const std::string& name) {
  options.initializers = start();
  return apply(Conv2d(options), x, name);
}

Symbol norm(Symbol x, const std::string& name) {
  const bool image = shape_of(x).rank() == 3;
  const auto axis = image ? LayerNormOptions::Axis::kChannels : LayerNormOptions::Axis::kFeatures;
  return apply(LayerNorm({.axis = axis, .epsilon = 1e-6}), x, name);
}

/// Figure 4: 7x7 depthwise, layer norm, 1x1 to four times the channels, GELU, 1x1 back; scaled by channel.
Symbol block(Symbol x, double drop, const std::string& name) {
  const std::int64_t channels = shape_of(x)[0];
  Symbol y = conv(x, {.filters = channels, .kernel = 7, .padding = Padding::by(3), .groups = channels},
                  name + ".block.0");
  y = norm(y, name + ".block.2");
  y = gelu(conv(y, {.filters = 4 * channels, .kernel = 1}, name + ".block.3"));
  y = conv(y, {.filters = channels, .kernel = 1}, name + ".block.5");
  y = apply(ChannelScale(), y, name + ".layer_scale");
  return add(drop > 0 ? stochastic_depth(y, drop) : y, x);
}

}  // namespace

Graph convnext_tiny(const ZooOptions& options) {
  Graph graph(options.input);
  // The stem.
  Symbol x = conv(input(graph), {.filters = kTiny[0].channels, .kernel = 4, .stride = 4}, "features.0.0");
  x = norm(x, "features.0.1");
  int all = 0, done = 0, part = 1;
  for (const Stage& stage : kTiny) all += stage.blocks;
  for (const Stage& stage : kTiny) {
    if (part > 1) {
      const std::string halve = fmt::format("features.{}", part++);
      x = norm(x, halve + ".0");
      x = conv(x, {.filters = stage.channels, .kernel = 2, .stride = 2}, halve + ".1");
    }
    for (int i = 0; i < stage.blocks; ++i, ++done) {
      x = block(x, kLastDrop * done / (all - 1), fmt::format("features.{}.{}", part, i));
    }
    ++part;
  }
  x = norm(global_average_pool(x), "classifier.0");
  head(x, options, start());
  return graph;
}

}  // namespace convoke::nn
