#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "interop/keras/layers.hpp"

// Convolutions and dense layers.

namespace convoke::interop::keras {
namespace {

using Setting = convoke::Value;

Setting pair(nn::Extent extent) { return Setting::Array{extent.height, extent.width}; }

Setting padding_of(const Call& call, bool may_be_causal) {
  const std::string padding = call.config().text("padding", "valid");
  if (padding == "valid" || padding == "same" || (may_be_causal && padding == "causal")) return padding;
  call.config().refuse("padding", "supported are \"valid\" and \"same\"");
}

void require_sequence(const Call& call, const Value& x) {
  if (call.config().text("data_format", "channels_last") != "channels_last") {
    call.config().refuse("data_format", "sequences are supported with \"channels_last\"");
  }
  if (call.shape(x).rank() != 2) {
    throw Error(fmt::format("needs a sequence, but its input is {}", call.keras_shape(x).with_batch()));
  }
}

Settings window(const Call& call, const char* layer) {
  return {{"layer", layer},
          {"kernel", pair(call.config().extent("kernel_size", 1))},
          {"stride", pair(call.config().extent("strides", 1))},
          {"padding", padding_of(call, false)},
          {"dilation", pair(call.config().extent("dilation_rate", 1))},
          {"bias", call.config().flag("use_bias", true)}};
}

Value weighted(const Call& call, const Settings& layer) {
  return call.activated(call.add_weighted(layer, {call.plain_input()}));
}

// A convolution of each channel of a sequence.
Settings depthwise1d(const Call& call, const Value& x, bool bias) {
  const std::int64_t features = call.shape(x)[1];
  return {{"layer", "conv1d"},
          {"filters", features * call.config().whole("depth_multiplier", 1)},
          {"kernel", call.config().first("kernel_size", 1)},
          {"stride", call.config().first("strides", 1)},
          {"padding", padding_of(call, true)},
          {"dilation", call.config().first("dilation_rate", 1)},
          {"groups", features},
          {"bias", bias}};
}

// Keras stores (k, F, M); the grouped convolution needs (k, 1, F M).
Tensor as_grouped(Tensor tensor) {
  if (tensor.shape.rank() == 3) tensor.shape = {tensor.shape[0], 1, tensor.shape[1] * tensor.shape[2]};
  return tensor;
}

}  // namespace

Value convert_conv1d(const Call& call) {
  const Value x = call.plain_input();
  require_sequence(call, x);
  const Settings layer{{"layer", "conv1d"},
                       {"filters", call.config().whole("filters")},
                       {"kernel", call.config().first("kernel_size", 1)},
                       {"stride", call.config().first("strides", 1)},
                       {"padding", padding_of(call, true)},
                       {"dilation", call.config().first("dilation_rate", 1)},
                       {"groups", call.config().whole("groups", 1)},
                       {"bias", call.config().flag("use_bias", true)}};
  Value y = call.add_weighted(layer, {x});
  y.mask.reset();
  return call.activated(y);
}

Value convert_conv2d(const Call& call) {
  Settings layer = window(call, "conv2d");
  layer.set("filters", call.config().whole("filters"));
  layer.set("groups", call.config().whole("groups", 1));
  return weighted(call, layer);
}

Value convert_conv2d_transpose(const Call& call) {
  Settings layer = window(call, "conv2d_transpose");
  layer.set("filters", call.config().whole("filters"));
  if (call.config().has("output_padding")) {
    layer.set("output_padding", pair(call.config().extent("output_padding", 0)));
  }
  return weighted(call, layer);
}

Value convert_depthwise_conv1d(const Call& call) {
  Value x = call.plain_input();
  require_sequence(call, x);
  x.mask.reset();
  std::vector<Tensor> tensors = call.tensors();
  if (!tensors.empty()) tensors[0] = as_grouped(tensors[0]);
  return call.activated(call.add_weighted(depthwise1d(call, x, call.config().flag("use_bias", true)), {x}, {},
                                          std::move(tensors)));
}

Value convert_depthwise_conv2d(const Call& call) {
  Settings layer = window(call, "depthwise_conv2d");
  layer.set("multiplier", call.config().whole("depth_multiplier", 1));
  return weighted(call, layer);
}

Value convert_separable_conv1d(const Call& call) {
  Value x = call.plain_input();
  require_sequence(call, x);
  x.mask.reset();
  std::vector<Tensor> tensors = call.tensors();
  if (tensors.size() < 2) throw Error("the file lacks its weights");
  const Value y =
      call.add_weighted(depthwise1d(call, x, false), {x}, "depthwise", std::vector{as_grouped(tensors[0])});
  tensors.erase(tensors.begin());
  const Settings pointwise{{"layer", "conv1d"},
                           {"filters", call.config().whole("filters")},
                           {"kernel", 1},
                           {"bias", call.config().flag("use_bias", true)}};
  return call.activated(call.add_weighted(pointwise, {y}, {}, std::move(tensors)));
}

Value convert_separable_conv2d(const Call& call) {
  Settings layer = window(call, "separable_conv2d");
  layer.set("filters", call.config().whole("filters"));
  layer.set("multiplier", call.config().whole("depth_multiplier", 1));
  return weighted(call, layer);
}

// Keras' Dense works on the last axis: of an image it is a 1 x 1 convolution.
Value convert_dense(const Call& call) {
  Value x = call.input();
  const std::int64_t units = call.config().whole("units");
  const bool bias = call.config().flag("use_bias", true);
  call.config().require_neutral("quantization_config");
  if (call.config().has("lora_rank")) call.config().refuse("lora_rank", "merge the low-rank update first");
  const std::size_t rank = call.shape(x).rank();
  if (rank == 3 && call.context().channels_first) {
    throw Error("a Dense layer on an image whose channels come first mixes its columns",
                "put GlobalAveragePooling2D or Flatten before it");
  }
  const Value y = rank == 1 ? call.add_weighted({{"layer", "dense"}, {"units", units}, {"bias", bias}}, {x})
                            : call.add_weighted({{"layer", rank == 2 ? "conv1d" : "conv2d"},
                                                 {"filters", units},
                                                 {"kernel", 1},
                                                 {"bias", bias}},
                                                {x});
  return call.activated({.node = y.node, .flattened = {}, .mask = y.mask});
}

}  // namespace convoke::interop::keras
