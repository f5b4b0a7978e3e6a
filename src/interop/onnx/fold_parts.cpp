#include "interop/onnx/folding.hpp"
#include "interop/slice_indices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace convoke::interop::onnx {
namespace {

/// Returns the elements at these indices of an axis.
Array taken(const Array& from, std::size_t axis, const std::vector<std::int64_t>& indices) {
  std::size_t inner = 1, outer = 1;
  for (std::size_t i = 0; i < from.shape.rank(); ++i) {
    if (i < axis) outer *= static_cast<std::size_t>(from.shape[i]);
    if (i > axis) inner *= static_cast<std::size_t>(from.shape[i]);
  }
  const auto extent = static_cast<std::size_t>(from.shape[axis]);
  const Shape to = with_extent(from.shape, axis, static_cast<std::int64_t>(indices.size()));
  check_size(to);
  std::vector<std::size_t> elements;
  for (std::size_t o = 0; o < outer; ++o) {
    for (const std::int64_t index : indices) {
      for (std::size_t i = 0; i < inner; ++i)
        elements.push_back((o * extent + static_cast<std::size_t>(index)) * inner + i);
    }
  }
  return from.picked(to, elements);
}

Array gathered(Call& call, const Array& from) {
  const Constant& wanted = call.constant(1, "indices");
  const std::size_t axis = call.axis(call.integer("axis", 0), from.shape.rank());
  std::vector<std::int64_t> indices = call.numbers(1, "indices");
  for (std::int64_t& index : indices) {
    if (index < 0) index += from.shape[axis];
    if (index < 0 || index >= from.shape[axis]) call.refuse(fmt::format("has no index {}", index));
  }
  Array result = taken(from, axis, indices);
  std::vector<std::int64_t> extents = from.shape.extents();
  const auto at = extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(axis));
  extents.insert(at, wanted.shape.extents().begin(), wanted.shape.extents().end());
  result.shape = Shape(extents);
  return result;
}

Array cut(Call& call, Array from) {
  const auto list = [&](const char* name, std::size_t input) {
    return call.list(name, input).value_or(std::vector<std::int64_t>{});
  };
  const std::vector<std::int64_t> starts = list("starts", 1), ends = list("ends", 2);
  std::vector<std::int64_t> axes = list("axes", 3), steps = list("steps", 4);
  if (axes.empty()) {
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    call.refuse("has starts, ends, axes and steps of different lengths");
  }
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = call.axis(axes[i], from.shape.rank());
    if (steps[i] == 0) call.refuse("has a step of 0");
    from = taken(from, axis, slice_indices(from.shape[axis], starts[i], ends[i], steps[i]));
  }
  return from;
}

Array joined(Call& call) {
  std::vector<Array> parts;
  bool whole = true;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    parts.push_back(Array::of(call.constant(i, "input")));
    whole = whole && parts.back().whole;
  }
  if (parts.empty()) call.refuse("has no inputs");
  const std::size_t axis = call.axis(call.integer("axis", 0), parts[0].shape.rank());
  std::int64_t extent = 0;
  for (Array& part : parts) {
    if (!whole) part = part.as_floats();
    if (part.shape.rank() <= axis ||
        with_extent(part.shape, axis, 0) != with_extent(parts[0].shape, axis, 0)) {
      call.refuse(fmt::format("joins {} and {}", parts[0].shape.to_string(), part.shape.to_string()));
    }
    extent += part.shape[axis];
  }
  Array all{.shape = with_extent(parts[0].shape, axis, extent), .whole = whole, .numbers = {}, .floats = {}};
  check_size(all.shape);
  std::size_t outer = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= static_cast<std::size_t>(all.shape[i]);
  for (std::size_t o = 0; o < outer; ++o) {
    for (const Array& part : parts) {
      const auto size = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(part.size()) / outer);
      const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(o) * size;
      if (whole) {
        all.numbers.insert(all.numbers.end(), part.numbers.begin() + first,
                           part.numbers.begin() + first + size);
      } else {
        all.floats.insert(all.floats.end(), part.floats.begin() + first, part.floats.begin() + first + size);
      }
    }
  }
  return all;
}

void split(Call& call, const Array& from) {
  const std::size_t axis = call.axis(call.integer("axis", 0), from.shape.rank());
  const auto outputs = static_cast<std::int64_t>(call.node().outputs.size());
  std::vector<std::int64_t> sizes = call.list("split", 1).value_or(std::vector<std::int64_t>{});
  if (sizes.empty()) sizes.assign(static_cast<std::size_t>(outputs), from.shape[axis] / outputs);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < sizes.size() && i < call.node().outputs.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > from.shape[axis] - first) call.refuse("has a size beyond its input");
    std::vector<std::int64_t> indices(static_cast<std::size_t>(sizes[i]));
    std::iota(indices.begin(), indices.end(), first);
    give_array(call, taken(from, axis, indices), i);
    first += sizes[i];
  }
}

}  // namespace

Shape with_extent(const Shape& shape, std::size_t axis, std::int64_t extent) {
  std::vector<std::int64_t> extents = shape.extents();
  extents[axis] = extent;
  return Shape(extents);
}

bool fold_parts(Call& call) {
  const std::string_view op = call.node().op;
  if (op == "Gather") {
    give_array(call, gathered(call, array_of(call)));
  } else if (op == "Slice") {
    give_array(call, cut(call, array_of(call)));
  } else if (op == "Concat") {
    give_array(call, joined(call));
  } else if (op == "Split") {
    split(call, array_of(call));
  } else {
    return false;
  }
  return true;
}

}  // namespace convoke::interop::onnx
