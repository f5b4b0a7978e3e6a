#include "interop/onnx/fold.hpp"

#include <algorithm>
#include <cmath>

namespace convoke::interop::onnx {
namespace {

/// Returns the extents of a constant shape. Along the batch the extent is 1: constants are broadcast.
Shape shape_in(Call& call, std::size_t input) {
  const Constant& given = call.constant(input, "shape");
  if (!given.is_numbers()) call.refuse("has a shape that is not whole numbers");
  std::vector<std::int64_t> extents;
  for (const Dim dim : given.numbers) extents.push_back(dim.batch ? 1 : dim.value);
  return Shape(extents);
}

/// Repeats axes of extent 1. An axis of the batch stays 1, since constants are broadcast along it.
Array expanded(Call& call, const Array& from) {
  const Shape wanted = shape_in(call, 1);
  const Shape to = broadcast(from.shape, wanted);
  return from.picked(to, broadcast_indices(from.shape, to));
}

Array filled(Call& call) {
  const Shape shape = shape_in(call, 0);
  check_size(shape);
  Array value = Array::zeros({1});
  if (const Attribute* given = find_attribute(call.node(), "value"); given != nullptr && given->tensor) {
    value = Array::of(make_constant(*given->tensor, {}));
    if (value.size() != 1) call.refuse("has a value that is not one number");
  }
  return value.picked(shape, std::vector<std::size_t>(static_cast<std::size_t>(shape.elements()), 0));
}

/// The form of ConstantOfShape before opset 9.
Array filled_before(Call& call) {
  const Shape shape =
      call.integer("input_as_shape", 0) != 0 ? shape_in(call, 0) : Shape(call.integers("shape"));
  std::vector<std::int64_t> extents = shape.extents();
  for (const std::int64_t extent : call.integers("extra_shape")) extents.push_back(extent);
  Array value = Array::zeros(Shape(extents));
  std::ranges::fill(value.floats, static_cast<float>(call.number("value", 0)));
  constexpr std::int64_t kFloat = 1;
  return call.integer("dtype", kFloat) == kFloat ? value : value.as_whole();
}

Array range(Call& call) {
  const Array start = Array::of(call.constant(0, "start")), end = Array::of(call.constant(1, "end")),
              step = Array::of(call.constant(2, "step"));
  if (start.size() != 1 || end.size() != 1 || step.size() != 1) call.refuse("has bounds of several numbers");
  const auto value = [](const Array& array) { return static_cast<double>(array.as_floats().floats[0]); };
  const double count = std::ceil((value(end) - value(start)) / value(step));
  constexpr double kMost = 1 << 20;
  if (!(count <= kMost)) call.refuse("has an absurd or open number of elements");
  Array result{.shape = {static_cast<std::int64_t>(std::max(0.0, count))},
               .whole = start.whole && step.whole,
               .numbers = {},
               .floats = {}};
  for (std::int64_t i = 0; i < result.shape[0]; ++i) {
    if (result.whole) {
      result.numbers.push_back({start.numbers[0].value + i * step.numbers[0].value});
    } else {
      result.floats.push_back(static_cast<float>(value(start) + static_cast<double>(i) * value(step)));
    }
  }
  return result;
}

}  // namespace

bool fold_made(Call& call) {
  const std::string_view op = call.node().op;
  if (op == "Expand") {
    give_array(call, expanded(call, array_of(call)));
  } else if (op == "ConstantOfShape") {
    give_array(call, filled(call));
  } else if (op == "ConstantFill") {
    give_array(call, filled_before(call));
  } else if (op == "Range") {
    give_array(call, range(call));
  } else {
    return false;
  }
  return true;
}

}  // namespace convoke::interop::onnx
