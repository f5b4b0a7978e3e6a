#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/error.hpp"
#include "interop/keras/call.hpp"

// Normalizations, learned or fixed.

namespace convoke::interop::keras {
namespace {

Value convert_batch_norm(const Call& call) {
  const Value x = call.input();
  require_channel_axis(call, x);
  call.config().require_neutral("renorm");
  call.config().require_neutral("virtual_batch_size");
  if (x.mask && call.options().trainable) {
    call.note(
        fmt::format("{} \"{}\" reads masked sequences: in training, its moments are those of all time "
                    "steps, while Keras leaves the masked ones out",
                    call.options().class_name, call.name()));
  }
  Settings layer = settings_from(call);
  layer.set("frozen", call.options().inference);
  return call.add_weighted(layer, {x});
}

Value convert_layer_norm(const Call& call) {
  const Value x = call.input();
  require_channel_axis(call, x);
  call.config().require_neutral("rms_scaling");
  Settings layer = settings_from(call);
  if (call.shape(x).rank() == 3) layer.set("axis", "channels");
  return call.add_weighted(layer, {x});
}

Value convert_group_norm(const Call& call) {
  const Value x = call.plain_input();
  require_channel_axis(call, x);
  Settings layer = settings_from(call);
  if (call.config().whole("groups", 32) == -1) layer.set("groups", nn::channels_of(call.shape(x)));
  return call.add_weighted(layer, {x});
}

Value convert_layer_scale(const Call& call) {
  return call.add_weighted({{"layer", "channel_scale"}}, {call.plain_input()});
}

// y = scale x + offset, with numbers or one for each channel: (x - mean) / deviation.
Value convert_rescaling(const Call& call) {
  std::vector<double> scale = call.config().numbers("scale"), offset = call.config().numbers("offset");
  if (offset.empty()) offset = {0};
  if (scale.empty()) call.config().refuse("scale", "a number is expected");
  if (scale.size() == 1 && offset.size() == 1) {
    return call.add({{"layer", "rescale"}, {"scale", scale[0]}, {"offset", offset[0]}}, call.input());
  }
  const std::size_t count = std::max(scale.size(), offset.size());
  if (scale.size() == 1) scale.resize(count, scale[0]);
  if (offset.size() == 1) offset.resize(count, offset[0]);
  if (scale.size() != offset.size() ||
      std::any_of(scale.begin(), scale.end(), [](double s) { return s <= 0; })) {
    call.config().refuse("scale", "positive numbers are supported, one for each channel");
  }
  return call.add(standardize_by(statistics_of(scale, offset)), call.plain_input());
}

Value convert_normalization(const Call& call) {
  const Value x = call.input();
  call.config().require_neutral("invert");
  if (call.config().has("axis")) require_channel_axis(call, x);
  std::vector<double> mean = call.config().numbers("mean"), variance = call.config().numbers("variance");
  if (mean.empty()) {
    const std::vector<Tensor> tensors = call.tensors();  // mean, variance, count
    if (tensors.size() < 2) throw Error("the file lacks its mean and variance");
    constexpr std::int64_t kMost = 1 << 20;
    for (const std::size_t i : {0, 1}) {
      if (tensors[i].shape.elements() > kMost) throw Error("has more means than a model has features");
      const std::vector<float> values = read_floats(tensors[i]);
      (i == 0 ? mean : variance).assign(values.begin(), values.end());
    }
  }
  const auto channels = static_cast<std::size_t>(nn::channels_of(call.shape(x)));
  if (mean.size() != variance.size() || (mean.size() != 1 && mean.size() != channels)) {
    throw Error(
        fmt::format("has {} means and {} variances for {} channels", mean.size(), variance.size(), channels));
  }
  constexpr double kLeast = 1e-14;  // Keras divides by at least 1e-7
  for (double& v : variance) v = std::max(v, kLeast);
  return call.add(standardize_by({mean, variance}), call.plain(x));
}

}  // namespace

void require_channel_axis(const Call& call, const Value& x) {
  const std::vector<std::int64_t> axes = call.config().wholes("axis");
  const std::string axis = axes.size() > 1 ? "" : call.axis(x, axes.empty() ? -1 : axes[0]);
  if (axis != "features" && axis != "channels") {
    call.config().refuse("axis", "supported is the axis of the channels or features");
  }
}

const std::initializer_list<LayerClass> kNormalizationClasses{
    LayerClass{"BatchNormalization", convert_batch_norm, "batch_norm"},
    LayerClass{"BatchNormalizationV1", convert_batch_norm, "batch_norm"},
    LayerClass{"BatchNormalizationV2", convert_batch_norm, "batch_norm"},
    LayerClass{"GroupNormalization", convert_group_norm, "group_norm"},
    LayerClass{"LayerNormalization", convert_layer_norm, "layer_norm"},
    LayerClass{"LayerScale", convert_layer_scale},
    LayerClass{"Normalization", convert_normalization},
    LayerClass{"Rescaling", convert_rescaling},
};

}  // namespace convoke::interop::keras
