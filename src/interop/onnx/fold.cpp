#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "convoke/core/error.hpp"
#include "interop/layer_tables.hpp"
#include "interop/onnx/operators.hpp"

namespace convoke::interop::onnx {
namespace {

[[noreturn]] void depends_on_batch() {
  throw Error("computes with the size of the batch what cannot follow for every batch");
}

/// Throws Error if both are multiples of the batch, or if the product has more than 64 bits.
Dim multiply(Dim a, Dim b) {
  if (a.batch && b.batch) depends_on_batch();
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a.value, b.value, &product)) throw Error("computes a number beyond 64 bits");
  return {product, a.batch || b.batch};
}

using RealFunction = float (*)(float, float);
using WholeFunction = Dim (*)(Dim, Dim);

Dim add(Dim a, Dim b) {
  if (a.batch != b.batch && a.value != 0 && b.value != 0) depends_on_batch();
  return {a.value + b.value, a.batch || b.batch};
}
Dim subtract(Dim a, Dim b) { return add(a, {-b.value, b.batch}); }
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
/// The remainder with the sign of `a`, as of fmod.
Dim remainder(Dim a, Dim b) {
  const Dim rest = modulo(a, b);
  return {rest.value != 0 && (a.value < 0) != (b.value < 0) ? rest.value - b.value : rest.value};
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
  bool boolean = false;  ///< the result is a boolean
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
  const Array x = (whole ? a : a.as_floats()).picked(to, broadcast_indices(a.shape, to));
  const Array y = (whole ? b : b.as_floats()).picked(to, broadcast_indices(b.shape, to));
  Array result{.shape = to, .whole = whole};
  for (std::size_t i = 0; i < static_cast<std::size_t>(to.elements()); ++i) {
    if (whole) {
      result.numbers.push_back(op.whole(x.numbers[i], y.numbers[i]));
    } else {
      result.floats.push_back(op.real(x.floats[i], y.floats[i]));
    }
  }
  return op.boolean ? result.as_whole() : result;
}

using Unary = Named<float (*)(float)>;
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
  std::transform(result.floats.begin(), result.floats.end(), result.floats.begin(), op.value);
  return array.whole ? result.as_whole() : result;
}

Array chosen(Call& call) {
  const Array condition = Array::of(call.constant(0, "condition"));
  Array yes = Array::of(call.constant(1, "input")), no = Array::of(call.constant(2, "input"));
  if (yes.whole != no.whole) {
    yes = yes.as_floats();
    no = no.as_floats();
  }
  const Shape to = broadcast(broadcast(condition.shape, yes.shape), no.shape);
  const Array which = condition.as_floats().picked(to, broadcast_indices(condition.shape, to));
  Array result = yes.picked(to, broadcast_indices(yes.shape, to));
  const Array other = no.picked(to, broadcast_indices(no.shape, to));
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

Array negated(Call& call) {
  Array result = array_of(call).as_whole();
  for (Dim& dim : result.numbers) dim = {dim.value == 0 ? 1 : 0};
  return result;
}

/// Returns the inputs of a node, combined one after another.
Array combined(Call& call, Binary op) {
  Array result = array_of(call);
  if (op.name == "Mod" && call.integer("fmod", 0) != 0) op.whole = remainder;
  for (std::size_t i = 1; i < call.inputs(); ++i) result = combined(op, result, array_of(call, i));
  return result;
}

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

Array reduced(const Reduction& op, const Array& array, const std::vector<std::size_t>& axes, bool keep) {
  const std::size_t rank = array.shape.rank();
  const auto gone = [&](std::size_t axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); };
  std::vector<std::int64_t> kept, left;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    kept.push_back(gone(axis) ? 1 : array.shape[axis]);
    if (!gone(axis) || keep) left.push_back(kept.back());
  }
  const Shape over(kept);
  const std::vector<std::size_t> indices = broadcast_indices(over, array.shape);
  if (array.whole && op.name == "ReduceProd") {  // of extents, of which one may be the batch
    Array result{.shape = Shape(left), .whole = true};
    result.numbers.assign(static_cast<std::size_t>(over.elements()), Dim{1});
    for (std::size_t i = 0; i < indices.size(); ++i) {
      result.numbers[indices[i]] = multiply(result.numbers[indices[i]], array.numbers[i]);
    }
    return result;
  }
  const Array from = array.as_floats();
  Array result{.shape = Shape(left)};
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
  std::vector<std::int64_t> extents;
  for (const Dim dim : call.shape(input)) extents.push_back(dim.batch ? 1 : dim.value);
  return Shape(extents);
}

/// Repeats axes of extent 1. An axis of the batch stays 1, since constants are broadcast along it.
Array expanded(Call& call) {
  const Array from = array_of(call);
  const Shape to = broadcast(from.shape, shape_in(call, 1));
  return from.picked(to, broadcast_indices(from.shape, to));
}

/// Repeats the whole array along its axes.
Array tiled(Call& call) {
  Array result = array_of(call);
  const std::vector<std::int64_t> times = call.numbers(1, "repeats");
  if (times.size() != result.shape.rank()) call.refuse("has not one number of repeats for each axis");
  constexpr std::int64_t kMostTimes = 1 << 20;
  for (std::size_t axis = 0; axis < times.size(); ++axis) {
    const std::int64_t extent = result.shape[axis];
    if (times[axis] < 0 || times[axis] > kMostTimes) call.refuse("has an absurd number of repeats");
    check_size(with_extent(result.shape, axis, extent * times[axis]));
    std::vector<std::int64_t> indices(static_cast<std::size_t>(extent * times[axis]));
    for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int64_t>(i) % extent;
    result = taken(result, axis, indices);
  }
  return result;
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
               .whole = start.whole && step.whole};
  for (std::int64_t i = 0; i < result.shape[0]; ++i) {
    if (result.whole) {
      result.numbers.push_back({start.numbers[0].value + i * step.numbers[0].value});
    } else {
      result.floats.push_back(static_cast<float>(value(start) + static_cast<double>(i) * value(step)));
    }
  }
  return result;
}

/// The bounds are inputs, of which each may be left out: see patterns.cpp.
Array clipped(Call& call) {
  Array result = array_of(call);
  if (call.has(1)) result = combined("Max", result, array_of(call, 1));
  if (call.has(2)) result = combined("Min", result, array_of(call, 2));
  return result;
}

/// The batch norm of a weight: PyTorch standardizes the weights of a convolution so (Qiao et al., 2019).
Array batch_normalized(Call& call) {
  const Array x = array_of(call).as_floats();
  if (x.shape.rank() < 2 || x.size() == 0) call.refuse("normalizes an array without channels");
  const Shape of_channels = with_extent(Shape(std::vector<std::int64_t>(x.shape.rank(), 1)), 1, x.shape[1]);
  const auto for_channels = [&](std::size_t input) {
    Array given = array_of(call, input).as_floats();
    if (given.size() != x.shape[1]) call.refuse("has inputs that do not fit its channels");
    given.shape = of_channels;
    return given;
  };
  const Array scale = for_channels(1), bias = for_channels(2);
  Array mean = for_channels(3), variance = for_channels(4);
  const bool training = call.integer("training_mode", 0) != 0;
  const auto mean_of = [](const Array& array) {
    std::vector<std::size_t> others = all_axes(array.shape.rank());
    others.erase(others.begin() + 1);
    return reduced(*find_named(kReductions, "ReduceMean"), array, others, true);
  };
  if (training) mean = mean_of(x);
  const Array centered = combined("Sub", x, mean);
  if (training) variance = mean_of(combined("Mul", centered, centered));
  Array epsilon = Array::zeros({1});
  epsilon.floats[0] = static_cast<float>(call.number("epsilon", 1e-5));
  const Array deviation = mapped(*find_named(kUnary, "Sqrt"), combined("Add", variance, epsilon));
  call.builder().note(
      "The file standardizes weights. Convoke stores the standardized ones, and training does not standardize them "
      "again.");
  return combined("Add", combined("Mul", combined("Div", centered, deviation), scale), bias);
}

/// A constant that is made.
using Made = Named<Array (*)(Call& call)>;
constexpr std::array kMade{
    Made{"BatchNormalization", batch_normalized},
    Made{"Clip", clipped},
    Made{"Expand", expanded},
    Made{"ConstantOfShape", filled},
    Made{"ConstantFill", filled_before},
    Made{"Not", negated},
    Made{"Range", range},
    Made{"Tile", tiled},
    Made{"Where", chosen},
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

Array combined(std::string_view op, const Array& x, const Array& y) {
  return combined(*find_named(kBinary, op), x, y);
}

bool fold(Call& call) {
  const std::string& op = call.node().op;
  if (const Made* made = find_named(kMade, op)) {
    give_array(call, made->value(call));
  } else if (const Reduction* reduction = find_named(kReductions, op)) {
    const Array array = array_of(call);
    give_array(call, reduced(*reduction, array, reduced_axes(call, array.shape.rank()),
                             call.integer("keepdims", 1) != 0));
  } else if (const Binary* binary = find_named(kBinary, op)) {
    give_array(call, combined(call, *binary));
  } else if (const Unary* unary = find_named(kUnary, op)) {
    give_array(call, mapped(*unary, array_of(call)));
  } else {
    return fold_quantized(call);
  }
  return true;
}

}  // namespace convoke::interop::onnx
