#include "interop/onnx/fold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "convoke/core/error.hpp"
#include "interop/onnx/array.hpp"

namespace convoke::interop::onnx {
namespace {

[[noreturn]] void depends_on_batch() {
  throw Error("computes with the size of the batch what cannot follow for every batch");
}

// --- element by element ---

using RealFunction = float (*)(float, float);
using WholeFunction = Dim (*)(Dim, Dim);

Dim add(Dim a, Dim b) {
  if (a.batch != b.batch && a.value != 0 && b.value != 0) depends_on_batch();
  return {a.value + b.value, a.batch || b.batch};
}
Dim subtract(Dim a, Dim b) { return add(a, {-b.value, b.batch}); }
Dim multiply(Dim a, Dim b) {
  if (a.batch && b.batch) depends_on_batch();
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a.value, b.value, &product)) throw Error("computes a number beyond 64 bits");
  return {product, a.batch || b.batch};
}
Dim divide(Dim a, Dim b) {
  if (b.value == 0 || (b.batch && !a.batch)) depends_on_batch();
  if (b.value == -1) return {-a.value, a.batch};
  if (a.batch && !b.batch && a.value % b.value != 0) depends_on_batch();
  return {a.value / b.value, a.batch && !b.batch};
}
Dim modulo(Dim a, Dim b) {
  if (b.value == 0 || b.batch) depends_on_batch();
  if (a.batch && a.value % b.value != 0) depends_on_batch();
  if (b.value == -1) return {0};
  const std::int64_t rest = a.value % b.value;
  return {rest != 0 && (rest < 0) != (b.value < 0) ? rest + b.value : rest};
}
Dim power(Dim a, Dim b) {
  Dim result{1};
  if (b.batch || b.value < 0 || b.value > 62) depends_on_batch();
  for (std::int64_t i = 0; i < b.value; ++i) result = multiply(result, a);
  return result;
}
Dim choose(Dim a, Dim b, bool first) {
  if (a.batch != b.batch) depends_on_batch();
  return first ? a : b;
}
Dim smaller(Dim a, Dim b) { return choose(a, b, a.value < b.value); }
Dim larger(Dim a, Dim b) { return choose(a, b, a.value > b.value); }
Dim equal(Dim a, Dim b) { return {a == b ? 1 : 0}; }
Dim less(Dim a, Dim b) { return {choose(a, b, true).value < b.value ? 1 : 0}; }
Dim less_or_equal(Dim a, Dim b) { return {choose(a, b, true).value <= b.value ? 1 : 0}; }
Dim greater(Dim a, Dim b) { return less(b, a); }
Dim greater_or_equal(Dim a, Dim b) { return less_or_equal(b, a); }
Dim both(Dim a, Dim b) { return {a.value != 0 && b.value != 0 ? 1 : 0}; }
Dim either(Dim a, Dim b) { return {a.value != 0 || b.value != 0 ? 1 : 0}; }

struct Binary {
  std::string_view name;
  WholeFunction whole;
  RealFunction real;
  bool truth = false;  ///< the result is a truth value
};
constexpr std::array kBinary{
    Binary{"Add", add, [](float a, float b) { return a + b; }},
    Binary{"Sub", subtract, [](float a, float b) { return a - b; }},
    Binary{"Mul", multiply, [](float a, float b) { return a * b; }},
    Binary{"Div", divide, [](float a, float b) { return a / b; }},
    Binary{"Mod", modulo, [](float a, float b) { return std::fmod(a, b); }},
    Binary{"Pow", power, [](float a, float b) { return std::pow(a, b); }},
    Binary{"Min", smaller, [](float a, float b) { return std::min(a, b); }},
    Binary{"Max", larger, [](float a, float b) { return std::max(a, b); }},
    Binary{"Equal", equal, [](float a, float b) { return a == b ? 1.0F : 0.0F; }, true},
    Binary{"Less", less, [](float a, float b) { return a < b ? 1.0F : 0.0F; }, true},
    Binary{"LessOrEqual", less_or_equal, [](float a, float b) { return a <= b ? 1.0F : 0.0F; }, true},
    Binary{"Greater", greater, [](float a, float b) { return a > b ? 1.0F : 0.0F; }, true},
    Binary{"GreaterOrEqual", greater_or_equal, [](float a, float b) { return a >= b ? 1.0F : 0.0F; }, true},
    Binary{"And", both, [](float a, float b) { return a * b; }, true},
    Binary{"Or", either, [](float a, float b) { return std::max(a, b); }, true},
};

Array combined(const Binary& op, const Array& a, const Array& b) {
  const Shape to = broadcast(a.shape, b.shape);
  const bool whole = a.whole && b.whole;
  const Array x = (whole ? a : a.as_floats()).picked(to, broadcast_places(a.shape, to));
  const Array y = (whole ? b : b.as_floats()).picked(to, broadcast_places(b.shape, to));
  Array result{.shape = to, .whole = whole, .numbers = {}, .floats = {}};
  for (std::size_t i = 0; i < static_cast<std::size_t>(to.elements()); ++i) {
    if (whole) {
      result.numbers.push_back(op.whole(x.numbers[i], y.numbers[i]));
    } else {
      result.floats.push_back(op.real(x.floats[i], y.floats[i]));
    }
  }
  return op.truth ? result.as_whole() : result;
}

struct Unary {
  std::string_view name;
  float (*real)(float);
};
constexpr std::array kUnary{
    Unary{"Sqrt", [](float x) { return std::sqrt(x); }},
    Unary{"Reciprocal", [](float x) { return 1 / x; }},
    Unary{"Neg", [](float x) { return -x; }},
    Unary{"Abs", [](float x) { return std::abs(x); }},
    Unary{"Exp", [](float x) { return std::exp(x); }},
    Unary{"Log", [](float x) { return std::log(x); }},
    Unary{"Floor", [](float x) { return std::floor(x); }},
    Unary{"Ceil", [](float x) { return std::ceil(x); }},
    Unary{"Round", [](float x) { return std::nearbyint(x); }},
    Unary{"Relu", [](float x) { return std::max(x, 0.0F); }},
    Unary{"Softplus", [](float x) { return std::log1p(std::exp(x)); }},
    Unary{"Sigmoid", [](float x) { return 1 / (1 + std::exp(-x)); }},
    Unary{"Tanh", [](float x) { return std::tanh(x); }},
};

Array mapped(const Unary& op, const Array& array) {
  Array result = array.as_floats();
  std::transform(result.floats.begin(), result.floats.end(), result.floats.begin(), op.real);
  return array.whole ? result.as_whole() : result;
}

// --- reductions ---

struct Reduction {
  std::string_view name;
  float start;
  float (*add)(float, float);
  float (*finish)(float, float);
};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::array kReductions{
    Reduction{"ReduceSum", 0, [](float s, float x) { return s + x; }, [](float s, float) { return s; }},
    Reduction{"ReduceMean", 0, [](float s, float x) { return s + x; },
              [](float s, float n) { return s / n; }},
    Reduction{"ReduceProd", 1, [](float s, float x) { return s * x; }, [](float s, float) { return s; }},
    Reduction{"ReduceMax", -kInfinity, [](float s, float x) { return std::max(s, x); },
              [](float s, float) { return s; }},
    Reduction{"ReduceMin", kInfinity, [](float s, float x) { return std::min(s, x); },
              [](float s, float) { return s; }},
    Reduction{"ReduceL1", 0, [](float s, float x) { return s + std::abs(x); },
              [](float s, float) { return s; }},
    Reduction{"ReduceL2", 0, [](float s, float x) { return s + x * x; },
              [](float s, float) { return std::sqrt(s); }},
    Reduction{"ReduceSumSquare", 0, [](float s, float x) { return s + x * x; },
              [](float s, float) { return s; }},
};

Array reduced(Call& call, const Reduction& op, const Array& array) {
  std::vector<std::size_t> axes;
  const auto list = call.list("axes", 1);
  const std::size_t rank = array.shape.rank();
  if (list && !list->empty()) {
    axes = call.axes(*list, rank);
  } else {
    for (std::size_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  }
  const auto gone = [&](std::size_t axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); };
  std::vector<std::int64_t> kept, left;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    kept.push_back(gone(axis) ? 1 : array.shape[axis]);
    if (!gone(axis) || call.integer("keepdims", 1) != 0) left.push_back(kept.back());
  }
  const Array from = array.as_floats();
  const Shape over(kept);
  const std::vector<std::size_t> places = broadcast_places(over, array.shape);
  Array result{.shape = Shape(left), .whole = false, .numbers = {}, .floats = {}};
  result.floats.assign(static_cast<std::size_t>(over.elements()), op.start);
  for (std::size_t i = 0; i < places.size(); ++i) {
    float& sum = result.floats[places[i]];
    sum = op.add(sum, from.floats[i]);
  }
  const auto count =
      static_cast<float>(places.size()) / static_cast<float>(std::max<std::size_t>(1, result.floats.size()));
  for (float& sum : result.floats) sum = op.finish(sum, count);
  return array.whole ? result.as_whole() : result;
}

// --- shapes ---

/// Returns the extents of a constant shape. Along the batch the extent is 1: constants are broadcast.
Shape shape_in(Call& call, std::size_t input) {
  const Constant& given = call.constant(input, "shape");
  if (!given.is_numbers()) call.refuse("has a shape that is not whole numbers");
  std::vector<std::int64_t> extents;
  for (const Dim dim : given.numbers) extents.push_back(dim.batch ? 1 : dim.value);
  return Shape(extents);
}

Constant squeezed(Call& call, const Constant& from) {
  const auto list = call.list("axes", 1);
  std::vector<std::int64_t> left;
  const std::size_t rank = from.shape.rank();
  const std::vector<std::size_t> gone = list ? call.axes(*list, rank) : std::vector<std::size_t>{};
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const bool named = std::find(gone.begin(), gone.end(), axis) != gone.end();
    if (list ? !named : from.shape[axis] != 1) left.push_back(from.shape[axis]);
  }
  return from.reshaped(Shape(left));
}

Constant unsqueezed(Call& call, const Constant& from) {
  const std::vector<std::int64_t> list = call.list("axes", 1).value_or(std::vector<std::int64_t>{});
  std::vector<std::int64_t> extents = from.shape.extents();
  std::vector<std::size_t> added = call.axes(list, extents.size() + list.size());
  std::sort(added.begin(), added.end());
  for (const std::size_t axis : added) {
    if (axis > extents.size()) call.refuse("adds an axis twice");
    extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  }
  return from.reshaped(Shape(extents));
}

Constant reshaped(Call& call, const Constant& from) {
  std::vector<std::int64_t> to =
      call.has_attribute("shape") ? call.integers("shape") : call.numbers(1, "shape");
  std::int64_t known = 1;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 0 && i < from.shape.rank()) to[i] = from.shape[i];
    if (to[i] < -1) call.refuse("has a negative extent");
    if (to[i] > 0) known *= std::min<std::int64_t>(to[i], 1 << 30);
  }
  for (std::int64_t& extent : to) {
    if (extent == -1) extent = from.shape.elements() / std::max<std::int64_t>(1, known);
  }
  if (!checked_elements(Shape(to))) call.refuse("has an absurd shape");
  return from.reshaped(Shape(to));
}

Constant flattened(Call& call, const Constant& from) {
  const std::int64_t axis = call.integer("axis", 1);
  const auto rank = static_cast<std::int64_t>(from.shape.rank());
  const std::int64_t first = axis < 0 ? axis + rank : axis;
  std::int64_t before = 1, all = from.shape.elements();
  if (first < 0 || first > rank || all == 0) call.refuse("cannot be flattened");
  for (std::int64_t i = 0; i < first; ++i) before *= from.shape[static_cast<std::size_t>(i)];
  return from.reshaped({before, all / before});
}

Constant transposed(Call& call, const Constant& from) {
  std::vector<std::int64_t> order = call.integers("perm");
  if (order.empty()) {
    order.resize(from.shape.rank());
    std::iota(order.rbegin(), order.rend(), 0);
  }
  const std::vector<std::size_t> axes = call.axes(order, from.shape.rank());
  std::vector<std::size_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (axes.size() != from.shape.rank() || std::unique(sorted.begin(), sorted.end()) != sorted.end()) {
    call.refuse("has a perm that is not a permutation of its axes");
  }
  return from.transposed(axes);
}

Constant cast(Call& call, const Constant& from) {
  const std::int64_t to = call.integer("to", 1);
  const bool real = to == 1 || to == 10 || to == 11 || to == 16;
  if (real != from.whole) return from;
  if (real) {
    if (!from.is_numbers()) {
      Constant result = from;
      result.whole = false;
      return result;
    }
    return Array::of(from).as_floats().constant();
  }
  Array whole = Array::of(from).as_whole();
  if (to == 9) {
    for (Dim& dim : whole.numbers) dim.value = dim.value != 0 ? 1 : 0;
  }
  return whole.constant();
}

// --- parts ---

/// Returns the shape with another extent of one axis.
Shape with_extent(const Shape& shape, std::size_t axis, std::int64_t extent) {
  std::vector<std::int64_t> extents = shape.extents();
  extents[axis] = extent;
  return Shape(extents);
}

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
  std::vector<std::size_t> places;
  for (std::size_t o = 0; o < outer; ++o) {
    for (const std::int64_t index : indices) {
      for (std::size_t i = 0; i < inner; ++i)
        places.push_back((o * extent + static_cast<std::size_t>(index)) * inner + i);
    }
  }
  return from.picked(to, places);
}

Array gathered(Call& call, const Array& from) {
  const Constant& wanted = call.constant(1, "indices");
  const std::size_t axis = call.axis(call.integer("axis", 0), from.shape.rank());
  std::vector<std::int64_t> indices = call.numbers(1, "indices");
  for (std::int64_t& index : indices) {
    if (index < 0) index += from.shape[axis];
    if (index < 0 || index >= from.shape[axis]) call.refuse(fmt::format("has no place {}", index));
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
    const std::int64_t extent = from.shape[axis], step = steps[i];
    if (step == 0) call.refuse("has a step of 0");
    const auto place = [&](std::int64_t at) { return at < 0 ? std::max(at, -extent - 1) + extent : at; };
    const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
    std::vector<std::int64_t> indices;
    const std::int64_t end = std::clamp(place(ends[i]), low, high);
    for (std::int64_t at = std::clamp(place(starts[i]), low, high); step > 0 ? at < end : at > end;) {
      indices.push_back(at);
      if (std::abs(step) > extent) break;
      at += step;
    }
    from = taken(from, axis, indices);
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
    call.give(taken(from, axis, indices).constant(), i);
    first += sizes[i];
  }
}

/// Repeats axes of extent 1. An axis of the batch stays 1, since constants are broadcast along it.
Array expanded(Call& call, const Array& from) {
  const Shape wanted = shape_in(call, 1);
  const Shape to = broadcast(from.shape, wanted);
  return from.picked(to, broadcast_places(from.shape, to));
}

Array filled(Call& call) {
  const Shape shape = shape_in(call, 0);
  check_size(shape);
  Array value{.shape = {1}, .whole = false, .numbers = {}, .floats = {0}};
  if (const Attribute* given = find_attribute(call.node(), "value"); given != nullptr && given->tensor) {
    value = Array::of(make_constant(*given->tensor, {}));
    if (value.size() != 1) call.refuse("has a value that is not one number");
  }
  return value.picked(shape, std::vector<std::size_t>(static_cast<std::size_t>(shape.elements()), 0));
}

Array range(Call& call) {
  const Array start = Array::of(call.constant(0, "start")), end = Array::of(call.constant(1, "end")),
              step = Array::of(call.constant(2, "step"));
  if (start.size() != 1 || end.size() != 1 || step.size() != 1) call.refuse("has bounds of several numbers");
  const auto value = [](const Array& array) { return static_cast<double>(array.as_floats().floats[0]); };
  const double count = std::ceil((value(end) - value(start)) / value(step));
  constexpr double kMost = 1 << 20;
  if (!(count <= kMost)) call.refuse("has an absurd or open number of places");
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

Array chosen(Call& call) {
  const Array condition = Array::of(call.constant(0, "condition"));
  Array yes = Array::of(call.constant(1, "input")), no = Array::of(call.constant(2, "input"));
  if (yes.whole != no.whole) {
    yes = yes.as_floats();
    no = no.as_floats();
  }
  const Shape to = broadcast(broadcast(condition.shape, yes.shape), no.shape);
  const Array which = condition.as_floats().picked(to, broadcast_places(condition.shape, to));
  Array result = yes.picked(to, broadcast_places(yes.shape, to));
  const Array other = no.picked(to, broadcast_places(no.shape, to));
  for (std::size_t i = 0; i < which.floats.size(); ++i) {
    if (which.floats[i] != 0) continue;
    if (result.whole) {
      result.numbers[i] = other.numbers[i];
    } else {
      result.floats[i] = other.floats[i];
    }
  }
  return result;
}

/// (x - zero point) * scale, for all numbers or along an axis
Array dequantized(Call& call) {
  const Array x = Array::of(call.constant(0, "input")).as_floats();
  Array scale = Array::of(call.constant(1, "scale")).as_floats();
  Array zero{.shape = scale.shape, .whole = false, .numbers = {}, .floats = {}};
  zero.floats.assign(scale.floats.size(), 0);
  if (call.has(2)) zero = Array::of(call.constant(2, "zero point")).as_floats();
  if (scale.shape.rank() == 1 && scale.size() > 1) {
    const std::size_t axis = call.axis(call.integer("axis", 1), x.shape.rank());
    const Shape along = with_extent(Shape(std::vector<std::int64_t>(x.shape.rank(), 1)), axis, scale.size());
    if (zero.size() != scale.size()) call.refuse("has not as many zero points as scales");
    scale.shape = zero.shape = along;
  } else if (scale.size() != 1 || zero.size() != 1) {
    call.refuse("has scales for blocks, which Convoke does not read");
  }
  const Array centred = combined(kBinary[1], x, zero);
  return combined(kBinary[2], centred, scale);
}

void give(Call& call, const Array& array) {
  // a whole number takes as much as eight others: twice two words
  call.import().count_numbers(array.shape.elements() * (array.whole ? 8 : 1));
  call.give(array.constant());
}

/// Names that are not element by element, reductions or changes of the shape alone.
bool fold_other(Call& call, std::string_view op) {
  const auto first = [&] { return Array::of(call.constant(0, "input")); };
  if (op == "Gather") {
    give(call, gathered(call, first()));
  } else if (op == "Slice") {
    give(call, cut(call, first()));
  } else if (op == "Concat") {
    give(call, joined(call));
  } else if (op == "Split") {
    split(call, first());
  } else if (op == "Expand") {
    give(call, expanded(call, first()));
  } else if (op == "ConstantOfShape") {
    give(call, filled(call));
  } else if (op == "Range") {
    give(call, range(call));
  } else if (op == "Where") {
    give(call, chosen(call));
  } else if (op == "DequantizeLinear") {
    call.builder().note("Quantised weights are converted to float32.");
    give(call, dequantized(call));
  } else if (op == "Not") {
    Array result = first().as_whole();
    for (Dim& dim : result.numbers) dim = {dim.value == 0 ? 1 : 0};
    give(call, result);
  } else if (op == "Shape") {
    call.give(Constant::of_list(call.constant(0, "input").shape.extents()));
  } else if (op == "Size") {
    call.give(Constant::of_numbers({}, {{call.constant(0, "input").shape.elements()}}));
  } else {
    return false;
  }
  return true;
}

/// Changes of the shape alone: the numbers are not read.
struct Lazy {
  std::string_view name;
  Constant (*fold)(Call& call, const Constant& from);
};
constexpr std::array kLazy{
    Lazy{"Identity", [](Call&, const Constant& from) { return from; }},
    Lazy{"Dropout", [](Call&, const Constant& from) { return from; }},
    Lazy{"Cast", cast},
    Lazy{"Reshape", reshaped},
    Lazy{"Flatten", flattened},
    Lazy{"Transpose", transposed},
    Lazy{"Squeeze", squeezed},
    Lazy{"Unsqueeze", unsqueezed},
};

}  // namespace

bool fold(Call& call) {
  const std::string_view op = call.node().op;
  const auto named = [&](const auto& table) {
    return std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.name == op; });
  };
  try {
    if (const auto lazy = named(kLazy); lazy != kLazy.end()) {
      call.give(lazy->fold(call, call.constant(0, "input")));
      return true;
    }
    if (const auto binary = named(kBinary); binary != kBinary.end()) {
      Array result = Array::of(call.constant(0, "input"));
      for (std::size_t i = 1; i < call.inputs(); ++i) {
        result = combined(*binary, result, Array::of(call.constant(i, "input")));
      }
      give(call, result);
      return true;
    }
    if (const auto unary = named(kUnary); unary != kUnary.end()) {
      give(call, mapped(*unary, Array::of(call.constant(0, "input"))));
      return true;
    }
    if (const auto reduction = named(kReductions); reduction != kReductions.end()) {
      give(call, reduced(call, *reduction, Array::of(call.constant(0, "input"))));
      return true;
    }
    return fold_other(call, op);
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.starts_with("node ")) throw;
    call.refuse(what, error.hint());
  }
}

}  // namespace convoke::interop::onnx
