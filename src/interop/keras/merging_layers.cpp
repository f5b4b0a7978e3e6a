#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "convoke/core/error.hpp"
#include "interop/keras/layers.hpp"

namespace convoke::interop::keras {
namespace {

using Setting = convoke::Value;

// Our extents of the result: each axis has the extent of the inputs that is not 1.
Shape common_shape(const Call& call, const std::vector<Value>& inputs) {
  std::vector<std::int64_t> extents(call.shape(inputs.front()).rank(), 1);
  for (const Value& input : inputs) {
    const Shape& shape = call.shape(input);
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (shape[i] != 1) extents[i] = shape[i];
    }
  }
  return Shape(extents);
}

// Repeats an image: its pixels by interpolation, its channel by a convolution with weights 1.
Value repeated(const Call& call, Value value, const Shape& to) {
  const Shape from = call.shape(value);
  if (to.rank() != 3) {
    throw Error(
        fmt::format("repeats {} to {}, which is supported for images", from.with_batch(), to.with_batch()));
  }
  if (from[1] != to[1] || from[2] != to[2]) {
    value = call.add({{"layer", "resize"}, {"size", Setting::Array{to[1], to[2]}}}, value, "repeat");
  }
  if (from[0] == to[0]) return value;
  const Settings ones{{"layer", "conv2d"}, {"filters", to[0]}, {"kernel", 1}, {"bias", false}};
  value = call.add(ones, value, "channels");
  call.builder().give(value.node, "weight", std::vector<float>(static_cast<std::size_t>(to[0]), 1.0F));
  call.builder().freeze(value.node);
  return value;
}

// One mask for all inputs, or none.
void merge_masks(std::vector<Value>& inputs) {
  const bool same = std::all_of(inputs.begin(), inputs.end(),
                                [&](const Value& input) { return input.mask == inputs.front().mask; });
  if (!same) inputs.front().mask.reset();
}

}  // namespace

std::vector<Value> broadcast(const Call& call, std::vector<Value> inputs) {
  if (inputs.empty()) throw Error("reads no tensors");
  merge_masks(inputs);
  const bool one_order = std::all_of(inputs.begin(), inputs.end(), [&](const Value& input) {
    return input.flattened == inputs.front().flattened;
  });
  if (!one_order) {
    for (Value& input : inputs) input = call.plain(input);
  }
  // As NumPy: axes of extent 1 are put in front of the shorter shape, in Keras' order.
  std::size_t rank = 0;
  for (const Value& input : inputs) rank = std::max(rank, call.shape(input).rank());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Shape shape = call.keras_shape(inputs[i]);
    if (shape.rank() == rank) continue;
    // The batch of the shorter one would meet an axis of the longer one.
    throw Error(fmt::format("its inputs have different numbers of axes, {} and {}", shape.with_batch(),
                            call.keras_shape(inputs.front()).with_batch()));
  }
  const Shape to = common_shape(call, inputs);
  const bool scales = call.options().class_name == "Multiply" && to.rank() == 3;
  for (Value& input : inputs) {
    const Shape& shape = call.shape(input);
    if (shape == to || (scales && shape == Shape{to[0], 1, 1})) continue;
    if (call.options().class_name == "Multiply" && to.rank() == 2 && shape == Shape{1, to[1]}) {
      input = call.reshaped(input, {to[1]}, "vector");  // our multiply scales features
      continue;
    }
    input = repeated(call, input, to);
  }
  return inputs;
}

Value convert_merged(const Call& call) {
  const std::string_view layer = layer_of(call.options().class_name);
  if (call.inputs().size() == 1 && layer != "subtract") return call.input();
  return call.add({{"layer", layer}}, broadcast(call, call.inputs()));
}

// a + scale b
Value convert_scaled_add(const Call& call) {
  if (call.inputs().size() != 2) throw Error("reads two tensors");
  const Value scaled =
      call.add({{"layer", "rescale"}, {"scale", call.config().number("scale")}}, call.inputs()[1], "scaled");
  return call.add({{"layer", "add"}}, broadcast(call, {call.inputs()[0], scaled}));
}

// min(a, b) = -max(-a, -b)
Value convert_minimum(const Call& call) {
  std::vector<Value> inputs = broadcast(call, call.inputs());
  const auto negated = [&](const Value& x, std::string_view suffix) {
    return call.add({{"layer", "rescale"}, {"scale", -1}}, x, suffix);
  };
  for (Value& input : inputs) input = negated(input, "negative");
  return negated(call.add({{"layer", "maximum"}}, inputs, "maximum"), "");
}

Value convert_concatenate(const Call& call) {
  std::vector<Value> inputs = call.inputs();
  merge_masks(inputs);
  for (Value& input : inputs) input = call.plain(input);
  if (inputs.size() == 1) return inputs.front();
  if (inputs.empty()) throw Error("reads no tensors");
  std::int64_t axis = call.config().whole("axis", -1);
  for (const Argument& argument : call.arguments()) {  // of the function keras.ops.concatenate
    if (argument.keyword == "axis" && argument.constant.is_number_integer()) axis = argument.constant;
  }
  return call.add({{"layer", "concat"}, {"axis", call.axis(inputs.front(), axis)}}, inputs);
}

}  // namespace convoke::interop::keras
