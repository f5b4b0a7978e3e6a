#include <fmt/format.h>

#include <algorithm>

#include "convoke/nn/layers/activation.hpp"
#include "convoke/nn/layers/conv2d.hpp"
#include "convoke/nn/layers/dropout.hpp"
#include "convoke/nn/layers/merge.hpp"
#include "convoke/nn/layers/rescale.hpp"
#include "nn/zoo/efficientnet.hpp"
#include "nn/zoo/zoo.hpp"

namespace convoke::nn {
namespace {

/// A convolution without bias, "<name><conv>", and its batch norm, "<name>bn". With stride 2, "same" pads as
/// Keras' correct_pad.
Symbol keras_unit(Symbol x, Conv2dOptions options, const std::string& name, const char* conv = "conv") {
  options.padding = Padding::same();
  options.bias = false;
  options.initializers = kaiming_fan_out();
  return apply(BatchNorm(), apply(Conv2d(options), x, name + conv), name + "bn");
}

Function activation_of(const EfficientNetScale& scale) { return scale.lite ? relu6 : silu; }

Symbol block(Symbol x, const EfficientNetScale& scale, const EfficientNetStage& stage, std::int64_t stride,
             double drop, const std::string& name) {
  const Function activation = activation_of(scale);
  const std::int64_t channels = shape_of(x)[0], filters = scale.channels(stage.filters);
  Symbol y = x;
  if (stage.expansion != 1) {
    y = activation(keras_unit(y, {.filters = channels * stage.expansion, .kernel = 1}, name + "expand_"));
  }
  const std::int64_t expanded = shape_of(y)[0];
  y = activation(
      keras_unit(y, {.filters = expanded, .kernel = stage.kernel, .stride = stride, .groups = expanded}, name,
                 "dwconv"));
  if (!scale.lite) {
    // Keras' 1 x 1 convolutions of one pixel are dense layers here.
    const std::int64_t squeezed = std::max<std::int64_t>(1, channels / 4);
    y = squeeze_excite(y, {.squeezed = squeezed, .activation = silu, .gate = sigmoid}, name + "se_reduce",
                       name + "se_expand");
  }
  y = keras_unit(y, {.filters = filters, .kernel = 1}, name + "project_");
  if (stride != 1 || channels != filters) return y;
  return add(drop > 0 ? stochastic_depth(y, drop) : y, x);
}

Symbol keras_features(Symbol x, const EfficientNetScale& scale) {
  const Function activation = activation_of(scale);
  const int all = scale.blocks();
  x = activation(keras_unit(x, {.filters = scale.outer_channels(32), .kernel = 3, .stride = 2}, "stem_"));
  int done = 0, part = 1;
  for (const EfficientNetStage& stage : kEfficientNetStages) {
    for (int i = 0; i < scale.blocks(stage); ++i, ++done) {
      x = block(x, scale, stage, i == 0 ? stage.stride : 1, kEfficientNetLastDrop * done / all,
                fmt::format("block{}{}_", part, static_cast<char>('a' + i)));
    }
    ++part;
  }
  return activation(keras_unit(x, {.filters = scale.outer_channels(1280), .kernel = 1}, "top_"));
}

}  // namespace

Symbol efficientnet_keras_features(Symbol x, std::size_t which) {
  x = rescale(x, {.scale = 1 / 255.0});
  x = standardize(x,
                  {.mean = {0.485, 0.456, 0.406}, .variance = {0.229 * 0.229, 0.224 * 0.224, 0.225 * 0.225}});
  return keras_features(x, kEfficientNetScales[which]);
}

Symbol efficientnet_keras(Symbol x, const ZooOptions& options, std::size_t which) {
  return efficientnet_top(efficientnet_keras_features(x, which), kEfficientNetScales[which], options);
}

Symbol efficientnet_tf(Symbol x, const ZooOptions& options, std::size_t which) {
  return efficientnet_top(keras_features(x, kEfficientNetScales[which]), kEfficientNetScales[which], options);
}

Symbol efficientnet_lite(Symbol x, const ZooOptions& options, std::size_t which) {
  const EfficientNetScale& scale = kEfficientNetLiteScales[which];
  return efficientnet_top(keras_features(x, scale), scale, options);
}

}  // namespace convoke::nn
