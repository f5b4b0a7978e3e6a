#include "interop/onnx/fold.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "convoke/core/error.hpp"

namespace convoke::interop::onnx {
namespace {

[[noreturn]] void depends_on_batch() {
  throw Error("computes with the size of the batch what cannot follow for every batch");
}

}  // namespace

Dim multiply(Dim a, Dim b) {
  if (a.batch && b.batch) depends_on_batch();
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a.value, b.value, &product)) throw Error("computes a number beyond 64 bits");
  return {product, a.batch || b.batch};
}

namespace {

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
  Array result{.shape = to, .whole = whole, .numbers = {}, .floats = {}};
  for (std::size_t i = 0; i < static_cast<std::size_t>(to.elements()); ++i) {
    if (whole) {
      result.numbers.push_back(op.whole(x.numbers[i], y.numbers[i]));
    } else {
      result.floats.push_back(op.real(x.floats[i], y.floats[i]));
    }
  }
  return op.boolean ? result.as_whole() : result;
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

}  // namespace

Array combined(std::string_view op, const Array& x, const Array& y) {
  return combined(
      *std::find_if(kBinary.begin(), kBinary.end(), [&](const Binary& entry) { return entry.name == op; }), x,
      y);
}

bool fold_elementwise(Call& call) {
  if (const Binary* binary = entry_for(call, kBinary)) {
    Array result = array_of(call);
    Binary op = *binary;
    if (op.name == "Mod" && call.integer("fmod", 0) != 0) op.whole = remainder;
    for (std::size_t i = 1; i < call.inputs(); ++i) result = combined(op, result, array_of(call, i));
    give_array(call, result);
  } else if (const Unary* unary = entry_for(call, kUnary)) {
    give_array(call, mapped(*unary, array_of(call)));
  } else if (call.node().op == "Where") {
    give_array(call, chosen(call));
  } else if (call.node().op == "Not") {
    give_array(call, negated(call));
  } else {
    return false;
  }
  return true;
}

}  // namespace convoke::interop::onnx
