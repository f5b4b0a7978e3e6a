#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "convoke/core/error.hpp"
#include "interop/keras/layers.hpp"
#include "interop/slice_indices.hpp"

// x[index] of tensors, and the stack that is its inverse.

namespace convoke::interop::keras {
namespace {

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

Value convert_get_item(const Call& call) {
  Value x = call.plain_input();
  x.mask.reset();
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
  std::int64_t axis = call.config().whole("axis", 0);
  for (const Argument& argument : call.arguments()) {
    if (argument.keyword == "axis" && argument.constant.is_number_integer()) axis = argument.constant;
  }
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

}  // namespace convoke::interop::keras
