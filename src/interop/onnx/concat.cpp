#include <fmt/format.h>

#include <algorithm>

#include "interop/onnx/fold.hpp"
#include "interop/onnx/operators.hpp"

namespace convoke::interop::onnx {
namespace {

Array joined_constants(Call& call, std::size_t axis) {
  std::vector<Array> parts;
  bool whole = true;
  std::int64_t extent = 0, first = 0;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    const Array& part = parts.emplace_back(array_of(call, i));
    if (part.shape.rank() <= axis ||
        with_extent(part.shape, axis, 0) != with_extent(parts[0].shape, axis, 0)) {
      call.refuse(fmt::format("joins {} and {}", parts[0].shape.to_string(), part.shape.to_string()));
    }
    whole = whole && part.whole;
    extent += part.shape[axis];
  }
  Array all = Array::zeros(with_extent(parts[0].shape, axis, extent), whole);
  for (const Array& part : parts) {
    all.put(whole ? part : part.as_floats(), axis, first);
    first += part.shape[axis];
  }
  return all;
}

/// Joins values with constants before or after them, as the class token of a vision transformer: the values
/// get zeroes in their places, to which the constants are added.
View joined_with_constants(Call& call, std::size_t axis) {
  std::vector<View> views;
  std::vector<std::pair<std::int64_t, Array>> constants;  // places before them, without the views' places
  std::int64_t before = 0, all = 0;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (!call.is_constant(i)) {
      if (!views.empty() && all > before) call.refuse("joins a constant between two values");
      if (views.empty()) before = all;
      views.push_back(call.view(i));
      continue;
    }
    const Array part = Array::of(call.constant(i, "input")).as_floats();
    if (part.size() == 0) continue;
    if (part.shape.rank() <= axis) call.refuse(fmt::format("joins a constant {}", part.shape.to_string()));
    constants.emplace_back(all, part);
    all += part.shape[axis];
  }
  View x = joined(call, views, axis);
  if (constants.empty()) return x;
  const std::int64_t own = x.dim(axis).value;
  std::vector<std::int64_t> extents, first(x.rank(), 0), last(x.rank(), 0);
  for (const Dim dim : x.dims()) extents.push_back(dim.batch ? 1 : dim.value);
  extents[axis] = own + all;
  Array added = Array::zeros(Shape(extents));
  for (const auto& [place, part] : constants) {
    extents[axis] = part.shape[axis];
    if (part.shape != Shape(extents)) {
      call.refuse(fmt::format("joins {} and a constant {}", to_string(x.dims()), part.shape.to_string()));
    }
    added.put(part, axis, place < before ? place : place + own);
  }
  first[axis] = before;
  last[axis] = all - before;
  x = zero_padded(call, x, first, last);
  return shifted_by(call, x, counted(call, added));
}

void convert_concat(Call& call) {
  if (call.inputs() == 0) call.refuse("has no inputs");
  std::size_t value = 0;
  while (value < call.inputs() && call.is_constant(value)) ++value;
  const bool constant = value == call.inputs();
  const std::vector<Dim> dims = dims_of(call.value(constant ? 0 : value));
  const std::size_t axis = call.axis(call.integer("axis", 0), dims.size());
  if (constant) return give_array(call, joined_constants(call, axis));
  if (dims[axis].batch) call.refuse("joins samples along the batch");
  call.give(joined_with_constants(call, axis));
}

}  // namespace

View joined(Call& call, const std::vector<View>& parts, std::size_t axis) {
  if (parts.size() == 1) return parts[0];
  const Along first = along(call.builder(), parts[0], axis);
  std::vector<std::size_t> nodes;
  std::int64_t extent = 0;
  for (const View& part : parts) {
    std::vector<Dim> dims = part.dims();
    if (dims.size() != first.view.rank()) call.refuse("joins values with different numbers of axes");
    extent += dims[axis].value;
    dims[axis] = first.view.dim(axis);
    if (dims != first.view.dims()) {
      call.refuse(fmt::format("joins {} and {}", to_string(parts[0].dims()), to_string(part.dims())));
    }
    const bool again = nodes.empty();  // the first one is arranged already
    nodes.push_back(again ? first.view.node : along(call.builder(), part, first).view.node);
  }
  return first.with(call.add({{"layer", "concat"}, {"axis", first.name()}}, std::move(nodes)), extent);
}

const std::initializer_list<Operator> kConcatOperators{
    Operator{"Concat", convert_concat, true},
};

}  // namespace convoke::interop::onnx
