#include "nn/kernels/functions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace convoke::nn {
namespace {

using Block = Function::Block;
using Blocks = Function::Blocks;

template <auto kValue>
void value_of(const Blocks& x, Block& y) {
  for (std::size_t i = 0; i < Function::kBlock; ++i) y[i] = kValue(x[0][i], x[1][i], x[2][i]);
}
template <auto kSlope>
void slope_of(const Blocks& x, const Block& y, Block& dy) {
  for (std::size_t i = 0; i < Function::kBlock; ++i) dy[i] = kSlope(x[0][i], x[1][i], x[2][i], y[i], dy[i]);
}

template <auto kValue, auto kSlope>
constexpr Function unary(std::string_view name) {
  return {name,
          1,
          value_of<[](float a, float, float) { return kValue(a); }>,
          {slope_of<[](float a, float, float, float y, float dy) { return kSlope(a, y, dy); }>}};
}
/// A function that is constant between its steps.
template <auto kValue>
constexpr Function step(std::string_view name) {
  return {name, 1, value_of<[](float a, float, float) { return kValue(a); }>};
}
template <auto kValue>
constexpr Function comparison(std::string_view name) {
  return {name, 2, value_of<[](float a, float b, float) { return kValue(a, b) ? 1.0F : 0.0F; }>};
}
template <auto kValue, auto kFirst, auto kSecond>
constexpr Function binary(std::string_view name) {
  return {name,
          2,
          value_of<[](float a, float b, float) { return kValue(a, b); }>,
          {slope_of<[](float a, float b, float, float y, float dy) { return kFirst(a, b, y, dy); }>,
           slope_of<[](float a, float b, float, float y, float dy) { return kSecond(a, b, y, dy); }>}};
}

float sign(float a) { return a > 0 ? 1 : a < 0 ? -1 : a; }

// Values and slopes are those of PyTorch, also for NaN and at the edges of a domain; but the sign of a NaN is
// a NaN, as for NumPy and onnxruntime.
constexpr std::array kElementwiseFunctions{
    unary<[](float a) { return std::abs(a); },
          [](float a, float, float dy) { return (a > 0)   ? dy
                                                : (a < 0) ? -dy
                                                          : 0; }>("abs"),
    step<[](float a) { return std::ceil(a); }>("ceil"),
    unary<[](float a) { return std::cos(a); }, [](float a, float, float dy) { return -dy * std::sin(a); }>(
        "cos"),
    binary<[](float a, float b) { return a / b; }, [](float, float b, float, float dy) { return dy / b; },
           [](float, float b, float y, float dy) { return -dy * (y / b); }>("divide"),
    comparison<[](float a, float b) { return a == b; }>("equal"),
    unary<[](float a) { return std::erf(a); },
          [](float a, float, float dy) {
            return dy * 2 * std::numbers::inv_sqrtpi_v<float> * std::exp(-a * a);
          }>("erf"),
    unary<[](float a) { return std::exp(a); }, [](float, float y, float dy) { return dy * y; }>("exp"),
    step<[](float a) { return std::floor(a); }>("floor"),
    comparison<[](float a, float b) { return (a > b); }>("greater"),
    comparison<[](float a, float b) { return a >= b; }>("greater_equal"),
    unary<[](float a) { return std::log(a); }, [](float a, float, float dy) { return dy / a; }>("log"),
    binary<[](float a, float b) { return a >= b || a != a ? a : b; },
           [](float a, float b, float, float dy) { return a == b  ? dy / 2
                                                          : a < b ? 0
                                                                  : dy; },
           [](float a, float b, float, float dy) { return a == b  ? dy / 2
                                                          : b < a ? 0
                                                                  : dy; }>("maximum"),
    binary<[](float a, float b) { return a <= b || a != a ? a : b; },
           [](float a, float b, float, float dy) { return a == b  ? dy / 2
                                                          : b < a ? 0
                                                                  : dy; },
           [](float a, float b, float, float dy) { return a == b  ? dy / 2
                                                          : a < b ? 0
                                                                  : dy; }>("minimum"),
    binary<[](float a, float b) { return std::pow(a, b); },
           [](float a, float b, float, float dy) { return b == 0 ? 0 : dy * b * std::pow(a, b - 1); },
           [](float a, float b, float y, float dy) { return a == 0 && b >= 0 ? 0 : dy * y * std::log(a); }>(
        "power"),
    step<[](float a) { return std::nearbyint(a); }>("round"),
    step<sign>("sign"),
    unary<[](float a) { return std::sin(a); }, [](float a, float, float dy) { return dy * std::cos(a); }>(
        "sin"),
    unary<[](float a) { return std::sqrt(a); }, [](float, float y, float dy) { return dy / (2 * y); }>(
        "sqrt"),
    binary<[](float a, float b) { return a - b; }, [](float, float, float, float dy) { return dy; },
           [](float, float, float, float dy) { return -dy; }>("subtract"),
    Function{"where",
             3,
             value_of<[](float a, float b, float c) { return a != 0 ? b : c; }>,
             {nullptr, slope_of<[](float a, float, float, float, float dy) { return a != 0 ? dy : 0; }>,
              slope_of<[](float a, float, float, float, float dy) { return a != 0 ? 0 : dy; }>}},
};

/// Calls f(first, count) for each block.
template <class F>
void for_each_block(std::size_t n, const F& f) {
  for (std::size_t first = 0; first < n; first += Function::kBlock) {
    f(first, std::min(Function::kBlock, n - first));
  }
}

template <class T>
void load_blocks(const FunctionOperands<T>& operands, std::size_t first, std::size_t count, Blocks& x) {
  for (std::size_t i = 0; i < operands.values.size(); ++i) {
    const T* from = operands.values[i];
    if (from != nullptr) std::copy_n(from + first, count, x[i].begin());
  }
}

template <class T>
Blocks numbers_of(const FunctionOperands<T>& operands) {
  Blocks x;
  for (std::size_t i = 0; i < x.size(); ++i) x[i].fill(operands.numbers[i]);
  return x;
}

}  // namespace

std::span<const Function> functions() { return kElementwiseFunctions; }

template <class T>
void apply(const Function& f, const FunctionOperands<T>& operands, T* y, std::size_t n) {
  Blocks x = numbers_of(operands);
  Block values{};
  for_each_block(n, [&](std::size_t first, std::size_t count) {
    load_blocks(operands, first, count, x);
    f.value(x, values);
    std::copy_n(values.begin(), count, y + first);
  });
}

template <class T>
void apply_backward(const Function& f, std::size_t operand, const FunctionOperands<T>& operands, const T* dy,
                    T* dx, std::size_t n) {
  if (f.slopes[operand] == nullptr) {
    std::fill_n(dx, n, T{});
    return;
  }
  Blocks x = numbers_of(operands);
  Block values{}, gradient{};
  for_each_block(n, [&](std::size_t first, std::size_t count) {
    load_blocks(operands, first, count, x);
    f.value(x, values);
    std::copy_n(dy + first, count, gradient.begin());
    f.slopes[operand](x, values, gradient);
    std::copy_n(gradient.begin(), count, dx + first);
  });
}

template void apply(const Function&, const FunctionOperands<float>&, float*, std::size_t);
template void apply(const Function&, const FunctionOperands<Bf16>&, Bf16*, std::size_t);
template void apply_backward(const Function&, std::size_t, const FunctionOperands<float>&, const float*,
                             float*, std::size_t);
template void apply_backward(const Function&, std::size_t, const FunctionOperands<Bf16>&, const Bf16*, Bf16*,
                             std::size_t);

}  // namespace convoke::nn
