#include "interop/onnx/fold.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace convoke::interop::onnx {
namespace {

struct Reduction {
  std::string_view name;
  float start;
  float (*add)(float, float);
  float (*finish)(float, float) = nullptr;  ///< of the sum and the number of elements
};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::array kReductions{
    Reduction{"ReduceSum", 0, [](float s, float x) { return s + x; }},
    Reduction{"ReduceMean", 0, [](float s, float x) { return s + x; },
              [](float s, float n) { return s / n; }},
    Reduction{"ReduceProd", 1, [](float s, float x) { return s * x; }},
    Reduction{"ReduceMax", -kInfinity, [](float s, float x) { return std::max(s, x); }},
    Reduction{"ReduceMin", kInfinity, [](float s, float x) { return std::min(s, x); }},
    Reduction{"ReduceL1", 0, [](float s, float x) { return s + std::abs(x); }},
    Reduction{"ReduceL2", 0, [](float s, float x) { return s + x * x; },
              [](float s, float) { return std::sqrt(s); }},
    Reduction{"ReduceSumSquare", 0, [](float s, float x) { return s + x * x; }},
};

Array reduced(Call& call, const Reduction& op, const Array& array) {
  const std::size_t rank = array.shape.rank();
  const std::vector<std::size_t> axes = reduced_axes(call, rank);
  const auto gone = [&](std::size_t axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); };
  std::vector<std::int64_t> kept, left;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    kept.push_back(gone(axis) ? 1 : array.shape[axis]);
    if (!gone(axis) || call.integer("keepdims", 1) != 0) left.push_back(kept.back());
  }
  const Shape over(kept);
  const std::vector<std::size_t> indices = broadcast_indices(over, array.shape);
  if (array.whole && op.name == "ReduceProd") {  // of extents, of which one may be the batch
    Array result{.shape = Shape(left), .whole = true, .numbers = {}, .floats = {}};
    result.numbers.assign(static_cast<std::size_t>(over.elements()), Dim{1});
    for (std::size_t i = 0; i < indices.size(); ++i) {
      result.numbers[indices[i]] = multiply(result.numbers[indices[i]], array.numbers[i]);
    }
    return result;
  }
  const Array from = array.as_floats();
  Array result{.shape = Shape(left), .whole = false, .numbers = {}, .floats = {}};
  result.floats.assign(static_cast<std::size_t>(over.elements()), op.start);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    float& sum = result.floats[indices[i]];
    sum = op.add(sum, from.floats[i]);
  }
  const auto count =
      static_cast<float>(indices.size()) / static_cast<float>(std::max<std::size_t>(1, result.floats.size()));
  if (op.finish != nullptr) {
    for (float& sum : result.floats) sum = op.finish(sum, count);
  }
  return array.whole ? result.as_whole() : result;
}

/// Returns the extents of a constant shape. Along the batch the extent is 1: constants are broadcast.
Shape shape_in(Call& call, std::size_t input) {
  const Constant& given = call.constant(input, "shape");
  if (!given.is_numbers()) call.refuse("has a shape that is not whole numbers");
  std::vector<std::int64_t> extents;
  for (const Dim dim : given.numbers) extents.push_back(dim.batch ? 1 : dim.value);
  return Shape(extents);
}

/// Repeats axes of extent 1. An axis of the batch stays 1, since constants are broadcast along it.
Array expanded(Call& call) {
  const Array from = array_of(call);
  const Shape to = broadcast(from.shape, shape_in(call, 1));
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

/// A constant that is made.
struct Made {
  std::string_view name;
  Array (*make)(Call& call);
};
constexpr std::array kMade{
    Made{"Expand", expanded},
    Made{"ConstantOfShape", filled},
    Made{"ConstantFill", filled_before},
    Made{"Range", range},
};

}  // namespace

std::vector<std::size_t> reduced_axes(const Call& call, std::size_t rank) {
  const auto list = call.list("axes", 1);
  if (list && !list->empty()) return call.axes(*list, rank);
  return all_axes(call.integer("noop_with_empty_axes", 0) != 0 ? 0 : rank);
}

Array array_of(Call& call, std::size_t input) { return Array::of(call.constant(input, "input")); }

Constant counted(Call& call, const Array& array) {
  // a whole number takes as much as eight others: twice two words
  call.import().count_numbers(array.shape.elements() * (array.whole ? 8 : 1));
  return array.constant();
}

void give_array(Call& call, const Array& array) { call.give(counted(call, array)); }

bool fold(Call& call) {
  if (const Made* made = entry_for(call, kMade)) {
    give_array(call, made->make(call));
  } else if (const Reduction* reduction = entry_for(call, kReductions)) {
    give_array(call, reduced(call, *reduction, array_of(call)));
  } else {
    return fold_elementwise(call) || fold_quantized(call);
  }
  return true;
}

}  // namespace convoke::interop::onnx
