#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "interop/keras/layers.hpp"

// Convolutions and dense layers.

namespace convoke::interop::keras {
namespace {

// The input, whose mask ends here.
Value sequence(const Call& call) {
  Value x = call.plain_input();
  x.mask.reset();
  if (call.shape(x).rank() == 2) return x;
  throw Error(fmt::format("needs a sequence, but its input is {}", call.keras_shape(x).with_batch()));
}

// A convolution of each channel of a sequence.
Settings depthwise1d(const Call& call, const Value& x) {
  const std::int64_t features = call.shape(x)[1];
  Settings layer = settings_from(call.config(), "conv1d");
  layer.set("filters", features * call.config().whole("depth_multiplier", 1));
  layer.set("groups", features);
  return layer;
}

// Keras stores (k, F, M); the grouped convolution needs (k, 1, F M).
Tensor as_grouped(Tensor tensor) {
  if (tensor.shape.rank() == 3) tensor.shape = {tensor.shape[0], 1, tensor.shape[1] * tensor.shape[2]};
  return tensor;
}

}  // namespace

Value convert_conv1d(const Call& call) {
  return call.activated(call.add_weighted(settings_from(call), {sequence(call)}));
}

Value convert_conv2d(const Call& call) {
  return call.activated(call.add_weighted(settings_from(call), {call.plain_input()}));
}

Value convert_depthwise_conv1d(const Call& call) {
  const Value x = sequence(call);
  std::vector<Tensor> tensors = call.tensors();
  if (!tensors.empty()) tensors[0] = as_grouped(tensors[0]);
  return call.activated(call.add_weighted(depthwise1d(call, x), {x}, {}, std::move(tensors)));
}

Value convert_separable_conv1d(const Call& call) {
  const Value x = sequence(call);
  std::vector<Tensor> tensors = call.tensors();
  if (tensors.size() < 2) throw Error("the file lacks its weights");
  Settings depthwise = depthwise1d(call, x);
  depthwise.set("bias", false);
  const Value y = call.add_weighted(depthwise, {x}, "depthwise", std::vector{as_grouped(tensors[0])});
  tensors.erase(tensors.begin());
  const Settings pointwise{{"layer", "conv1d"},
                           {"filters", call.config().whole("filters")},
                           {"kernel", 1},
                           {"bias", call.config().flag("use_bias", true)}};
  return call.activated(call.add_weighted(pointwise, {y}, {}, std::move(tensors)));
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
