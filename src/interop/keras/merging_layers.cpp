#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "convoke/core/error.hpp"
#include "interop/keras/call.hpp"

// Layers that read several values or a part of one: x[index], and the stack that is its inverse.

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

bool is_masked(const Value& input) { return input.mask.has_value(); }

// Gives the first input the mask of the result. An input without a mask ends that of the others in Keras 3;
// in Keras 2 it does not. Operations end all masks.
void merge_masks(const Call& call, std::vector<Value>& inputs) {
  const bool all = std::all_of(inputs.begin(), inputs.end(), is_masked);
  const bool ends = call.options().is_operation || (!all && call.context().keras_version >= 3);
  std::optional<std::size_t> common;
  for (const Value& input : inputs) {
    if (ends || !input.mask) continue;
    if (common && common != input.mask) throw Error("reads sequences with the masks of different tokens");
    common = input.mask;
  }
  inputs.front().mask = common;
}

// True for a layer of Keras 3 that reads a mask: those below treat masked time steps in a way of their own.
bool treats_masks(const Call& call) {
  return !call.options().is_operation && call.context().keras_version >= 3 &&
         std::any_of(call.inputs().begin(), call.inputs().end(), is_masked);
}

void refuse_masks(const Call& call) {
  if (!treats_masks(call)) return;
  throw Error("reads masked sequences, which is not supported for Maximum and Minimum of Keras 3",
              "leave the mask out: Embedding(mask_zero=False)");
}

Value convert_merged(const Call& call) {
  const std::string_view layer = layer_of(call.options().class_name);
  if (call.inputs().size() == 1 && layer != "subtract") return call.input();
  return call.add({{"layer", layer}}, broadcast(call, call.inputs()));
}

Value convert_maximum(const Call& call) {
  refuse_masks(call);
  return convert_merged(call);
}

// Keras 3 takes an input as 1 at its masked time steps, and the product as 0 there if all inputs are masked.
Value convert_multiply(const Call& call) {
  if (!treats_masks(call)) return convert_merged(call);
  std::vector<Value> inputs = call.inputs();
  const bool all = std::all_of(inputs.begin(), inputs.end(), is_masked);
  for (Value& input : inputs) {  // m (x - 1) + 1
    if (all || !input.mask) continue;
    const Value less_one = rescaled(call, input, 1, -1, "less_one");
    input = rescaled(call, kept_steps(call, less_one, mask_numbers(call, input), "kept"), 1, 1, "factor");
  }
  const Value y = call.add({{"layer", "multiply"}}, broadcast(call, inputs), all ? "product" : "");
  return all ? kept_steps(call, y, mask_numbers(call, y), "") : y;
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
  refuse_masks(call);
  std::vector<Value> inputs = broadcast(call, call.inputs());
  const auto negated = [&](const Value& x, std::string_view suffix) {
    return call.add({{"layer", "rescale"}, {"scale", -1}}, x, suffix);
  };
  for (Value& input : inputs) input = negated(input, "negative");
  return negated(call.add({{"layer", "maximum"}}, inputs, "maximum"), "");
}

constexpr std::size_t kMostParts = 256;
constexpr std::int64_t kAnyBatch = 1 << 20;  // stands for the extent of the batch

bool is_ellipsis(const Json& element) { return member(element, "class_name") == Json("__ellipsis__"); }

/// Returns the elements of an index: those of Keras 3 are arguments, those of Keras 2 a list.
std::vector<Json> elements_of(const Call& call) {
  std::vector<Json> elements;
  for (const Argument& argument : call.arguments()) {
    if (argument.call) continue;
    if (argument.constant.is_array()) {
      elements.insert(elements.end(), argument.constant.begin(), argument.constant.end());
    } else if (argument.keyword.empty() || argument.keyword == "key" || argument.keyword == "slice_spec") {
      elements.push_back(argument.constant);
    }
  }
  return elements;
}

/// Puts as many whole axes in the place of "..." as are left of `rank`, or at the end.
std::vector<Json> for_each_axis(std::vector<Json> elements, std::size_t rank) {
  auto at = std::find_if(elements.begin(), elements.end(), is_ellipsis);
  if (at != elements.end()) at = elements.erase(at);
  if (elements.size() > rank)
    throw Error(fmt::format("has {} indices for {} axes", elements.size(), rank),
                "give at most one index for each axis of the tensor");
  elements.insert(at, rank - elements.size(), Json{{"start", nullptr}, {"stop", nullptr}, {"step", nullptr}});
  return elements;
}

std::int64_t number(const Json& slice, const char* key, std::int64_t otherwise) {
  const Json& value = member(slice, key);
  if (value.is_null()) return otherwise;
  if (!value.is_number_integer())
    throw Error("has a slice whose ends are not whole numbers", "give numbers: x[:, 2:5]");
  return value.get<std::int64_t>();
}

std::vector<std::int64_t> indices_of(const Json& element, std::int64_t extent) {
  if (element.is_number_integer()) {
    const auto index = element.get<std::int64_t>();
    const std::int64_t position = index < 0 ? index + extent : index;
    if (position < 0 || position >= extent)
      throw Error(fmt::format("has no index {} of {}", index, extent),
                  "indices count from 0, and -1 is the last");
    return {position};
  }
  const Json& slice = member(element, "config").is_object() ? member(element, "config") : element;
  if (!slice.is_object()) {
    throw Error("adds an axis, or has an index that is neither a number nor a slice",
                "write it with Reshape, Cropping2D or slices with numbers");
  }
  constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min(),
                         kLast = std::numeric_limits<std::int64_t>::max();
  const std::int64_t step = number(slice, "step", 1);
  if (step == 0) throw Error("has a step of 0", "give a step of at least 1, or of at most -1");
  const std::int64_t start = number(slice, "start", step > 0 ? 0 : kLast);
  const auto indices = slice_indices(extent, start, number(slice, "stop", step > 0 ? kLast : kFirst), step);
  if (indices.empty()) throw Error("takes nothing of its input", "give a slice that ends behind its start");
  return indices;
}

bool is_whole(const std::vector<std::int64_t>& indices, std::int64_t extent) {
  return runs_of(indices) == std::vector{std::pair(std::int64_t{0}, extent)};
}

/// Takes these indices of one of Keras' axes: slices, joined.
Value taken(const Call& call, const Value& x, std::int64_t axis, const std::vector<std::int64_t>& indices) {
  const std::string name = call.axis(x, axis);
  std::vector<Value> parts;
  for (const auto& [first, size] : runs_of(indices)) {
    if (parts.size() == kMostParts)
      throw Error("takes too many indices that are not neighbors",
                  "take longer runs of neighbors, or pool the axis");
    parts.push_back(
        call.add({{"layer", "slice"}, {"axis", name}, {"begin", first}, {"size", size}}, x, "places"));
  }
  return parts.size() == 1 ? parts[0] : call.add({{"layer", "concat"}, {"axis", name}}, parts, "joined");
}

}  // namespace

std::vector<Value> broadcast(const Call& call, std::vector<Value> inputs) {
  if (inputs.empty()) throw Error("reads no tensors");
  merge_masks(call, inputs);
  const bool one_order = std::all_of(inputs.begin(), inputs.end(), [&](const Value& input) {
    return input.flattened == inputs.front().flattened;
  });
  if (!one_order) {
    for (Value& input : inputs) input = call.plain(input);
  }
  // As NumPy: axes of extent 1 are put in front of the shorter shape, in Keras' order.
  std::size_t rank = 0;
  for (const Value& input : inputs) rank = std::max(rank, call.shape(input).rank());
  const auto has_rank = [&](const Value& input) { return call.shape(input).rank() == rank; };
  if (const auto shorter = std::ranges::find_if_not(inputs, has_rank); shorter != inputs.end()) {
    // The batch of the shorter one would meet an axis of the longer one.
    throw Error(fmt::format("its inputs have different numbers of axes, {} and {}",
                            call.keras_shape(*shorter).with_batch(),
                            call.keras_shape(*std::ranges::find_if(inputs, has_rank)).with_batch()));
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

std::int64_t axis_argument(const Call& call, std::int64_t fallback) {
  std::int64_t axis = call.config().whole("axis", fallback);
  for (const Argument& argument : call.arguments()) {  // of the functions of keras.ops
    if (argument.keyword == "axis" && argument.constant.is_number_integer()) axis = argument.constant;
  }
  return axis;
}

Value convert_concatenate(const Call& call) {
  std::vector<Value> inputs = call.inputs();
  if (inputs.empty()) throw Error("reads no tensors");
  merge_masks(call, inputs);
  for (Value& input : inputs) input = call.plain(input);
  if (inputs.size() == 1) return inputs.front();
  const std::string axis = call.axis(inputs.front(), axis_argument(call, -1));
  return call.add({{"layer", "concat"}, {"axis", axis}}, inputs);
}

Value convert_get_item(const Call& call) {
  Value x = unmasked(call.plain_input());
  const Shape shape = call.keras_shape(x);
  const std::vector<Json> elements = for_each_axis(elements_of(call), shape.rank() + 1);
  if (elements[0].is_number_integer() || !is_whole(indices_of(elements[0], kAnyBatch), kAnyBatch)) {
    throw Error("takes a part of the batch", "slice the other axes; Convoke predicts each sample on its own");
  }
  std::vector<std::int64_t> left;
  for (std::size_t i = 1; i < elements.size(); ++i) {
    const std::int64_t extent = shape[i - 1];
    const std::vector<std::int64_t> indices = indices_of(elements[i], extent);
    if (!is_whole(indices, extent)) x = taken(call, x, static_cast<std::int64_t>(i), indices);
    if (!elements[i].is_number_integer()) left.push_back(static_cast<std::int64_t>(indices.size()));
  }
  if (left.empty()) left.push_back(1);
  return Shape(left) == call.keras_shape(x) ? x : call.reshaped(x, Shape(left));
}

Value convert_stack(const Call& call) {
  if (call.inputs().empty()) throw Error("reads no tensors");
  const std::int64_t axis = axis_argument(call, 0);
  std::vector<Value> parts;
  for (const Value& input : call.inputs()) {
    const Value x = call.plain(input);
    std::vector<std::int64_t> extents = call.keras_shape(x).extents();
    const auto rank = static_cast<std::int64_t>(extents.size()) + 1;  // with the batch
    const std::int64_t position = axis < 0 ? axis + rank + 1 : axis;
    if (position < 1 || position > rank) {
      throw Error("stacks samples along the batch", "give axis=1 or above, or use Concatenate");
    }
    extents.insert(extents.begin() + (position - 1), 1);
    parts.push_back(call.reshaped(x, Shape(extents), "part"));
  }
  if (parts.size() == 1) return parts[0];
  const std::int64_t rank = static_cast<std::int64_t>(call.keras_shape(parts[0]).rank()) + 1;
  return call.add({{"layer", "concat"}, {"axis", call.axis(parts[0], axis < 0 ? axis + rank : axis)}}, parts);
}

const std::initializer_list<LayerClass> kMergingClasses{
    LayerClass{"Add", convert_merged},
    LayerClass{"Average", convert_merged},
    LayerClass{"Concatenate", convert_concatenate},
    LayerClass{"CustomScaleLayer", convert_scaled_add},
    LayerClass{"Maximum", convert_maximum},
    LayerClass{"Minimum", convert_minimum},
    LayerClass{"Multiply", convert_multiply, "multiply"},
    LayerClass{"Subtract", convert_merged},
};

}  // namespace convoke::interop::keras
