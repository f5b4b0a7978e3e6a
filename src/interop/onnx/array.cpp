#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "convoke/core/error.hpp"
#include "interop/onnx/fold.hpp"

namespace convoke::interop::onnx {

Array Array::of(const Constant& constant) {
  Array array{.shape = constant.shape, .whole = constant.is_numbers()};
  if (array.whole) {
    array.numbers = constant.numbers;
  } else {
    array.floats = constant.floats();
  }
  return array;
}

Constant Array::constant() const {
  return whole ? Constant::of_numbers(shape, numbers) : Constant::of_floats(shape, floats);
}

Array Array::zeros(Shape shape, bool whole) {
  check_size(shape);
  Array array{.shape = std::move(shape), .whole = whole};
  const auto count = static_cast<std::size_t>(array.size());
  whole ? array.numbers.resize(count) : array.floats.resize(count);
  return array;
}

void Array::put(const Array& part, std::size_t axis, std::int64_t first) {
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.rank(); ++i) inner *= static_cast<std::size_t>(shape[i]);
  const std::size_t row = static_cast<std::size_t>(part.shape[axis]) * inner,
                    step = static_cast<std::size_t>(shape[axis]) * inner;
  const auto copy = [&](const auto& from, auto& to) {
    std::size_t place = static_cast<std::size_t>(first) * inner;
    for (std::size_t at = 0; at < from.size(); at += row, place += step)
      std::copy_n(from.data() + at, row, to.data() + place);
  };
  copy(part.numbers, numbers);
  copy(part.floats, floats);
}

Array Array::picked(Shape to, const std::vector<std::size_t>& indices) const {
  Array result{.shape = std::move(to), .whole = whole};
  for (const std::size_t at : indices) {
    if (whole) {
      result.numbers.push_back(numbers[at]);
    } else {
      result.floats.push_back(floats[at]);
    }
  }
  return result;
}

Array Array::as_floats() const {
  if (!whole) return *this;
  Array result{.shape = shape};
  for (const Dim dim : numbers) {
    result.floats.push_back(dim.batch ? std::numeric_limits<float>::quiet_NaN()
                                      : static_cast<float>(dim.value));
  }
  return result;
}

Array Array::as_whole() const {
  if (whole) return *this;
  Array result{.shape = shape, .whole = true};
  constexpr float kMost = 9e18F;
  for (const float value : floats) {
    if (std::isnan(value)) throw Error("rounds a number that depends on the size of the batch");
    result.numbers.push_back({static_cast<std::int64_t>(std::clamp(value, -kMost, kMost))});
  }
  return result;
}

void check_size(const Shape& shape) {
  constexpr std::int64_t kMost = 1 << 24;
  const std::optional<std::int64_t> elements = checked_elements(shape);
  if (!elements || *elements > kMost) {
    throw Error(fmt::format("makes a constant of the shape {}", shape.to_string()));
  }
}

Shape broadcast(const Shape& a, const Shape& b) {
  const std::vector<Dim> first = Constant::of_list(a.extents()).numbers,
                         second = Constant::of_list(b.extents()).numbers;
  std::vector<std::int64_t> extents;
  for (const Dim dim : broadcast(first, second)) extents.push_back(dim.value);
  check_size(Shape(extents));
  return Shape(extents);
}

std::vector<std::size_t> broadcast_indices(const Shape& from, const Shape& to) {
  const std::size_t rank = to.rank();
  std::vector<std::size_t> stride(rank, 0), index(rank, 0);
  std::size_t step = 1;
  for (std::size_t i = from.rank(); i-- > 0;) {
    const std::size_t axis = i + rank - from.rank();
    stride[axis] = from[i] == 1 ? 0 : step;
    step *= static_cast<std::size_t>(from[i]);
  }
  std::vector<std::size_t> indices(static_cast<std::size_t>(to.elements()));
  std::size_t source = 0;
  for (std::size_t& one : indices) {
    one = source;
    for (std::size_t axis = rank; axis-- > 0;) {
      source += stride[axis];
      if (++index[axis] < static_cast<std::size_t>(to[axis])) break;
      source -= index[axis] * stride[axis];
      index[axis] = 0;
    }
  }
  return indices;
}

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

}  // namespace convoke::interop::onnx
