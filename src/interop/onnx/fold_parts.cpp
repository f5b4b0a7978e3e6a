#include "interop/onnx/folding.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace convoke::interop::onnx {
namespace {

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

}  // namespace

Shape with_extent(const Shape& shape, std::size_t axis, std::int64_t extent) {
  std::vector<std::int64_t> extents = shape.extents();
  extents[axis] = extent;
  return Shape(extents);
}

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

bool fold_parts(Call& call) {
  const std::string_view op = call.node().op;
  if (op == "Gather") {
    give_array(call, gathered(call, array_of(call)));
  } else if (op == "Concat") {
    give_array(call, joined(call));
  } else {
    return false;
  }
  return true;
}

}  // namespace convoke::interop::onnx
