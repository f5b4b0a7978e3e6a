#include <algorithm>

#include "interop/keras/composition.hpp"

namespace convoke::interop::keras_export {
namespace {

// epsilon, center and scale of a normalization over the last axis.
Json norm_config(const Composition& c) {
  return {{"axis", -1},
          {"epsilon", c.settings.number("epsilon")},
          {"center", c.settings.flag("center")},
          {"scale", c.settings.flag("scale")}};
}

}  // namespace

KerasTensor compose_batch_norm(Composition& c) {
  Json config = norm_config(c);
  config["momentum"] = c.settings.number("momentum");
  return c.weighted("", "BatchNormalization", std::move(config), c.weights(), c.input(), c.output());
}

// A factor for each channel is a depthwise convolution by single pixels.
KerasTensor compose_channel_scale(Composition& c) {
  const std::int64_t channels = c.channels();
  const Shape shape = c.output();
  const bool image = shape.rank() == 3;
  const Shape as_image = image ? shape : Shape{shape.rank() == 2 ? shape[0] : 1, 1, channels};
  const KerasTensor x = image ? c.input() : c.reshape("image", c.input(), as_image);
  const Json config{{"kernel_size", Json::array({1, 1})}, {"use_bias", false}};
  KerasWeight kernel = c.weights()[0];
  kernel.name = "depthwise_kernel";
  kernel.shape = {1, 1, channels, 1};
  const KerasTensor scaled = c.weighted("", "DepthwiseConv2D", config, {kernel}, x, as_image);
  return image ? scaled : c.reshape("scaled", scaled, shape);
}

KerasTensor compose_group_norm(Composition& c) {
  Json config = norm_config(c);
  config["groups"] = c.settings.integer("groups");
  return c.weighted("", "GroupNormalization", std::move(config), c.weights(), c.input(), c.output());
}

KerasTensor compose_layer_norm(Composition& c) {
  return c.weighted("", "LayerNormalization", norm_config(c), c.weights(), c.input(), c.output());
}

KerasTensor compose_rescale(Composition& c) {
  return c.layer("", "Rescaling",
                 {{"scale", c.settings.number("scale")}, {"offset", c.settings.number("offset")}}, c.input(),
                 c.output());
}

KerasTensor compose_standardize(Composition& c) {
  auto mean = c.settings.numbers("mean"), variance = c.settings.numbers("variance");
  mean.resize(static_cast<std::size_t>(c.channels()), mean.back());
  variance.resize(static_cast<std::size_t>(c.channels()), variance.back());
  return c.layer("", "Normalization",
                 {{"axis", Json::array({-1})}, {"invert", false}, {"mean", mean}, {"variance", variance}},
                 c.input(), c.output());
}

}  // namespace convoke::interop::keras_export
