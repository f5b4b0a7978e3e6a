#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// A function of one to three numbers and its slopes. Both work on blocks of kBlock elements in fp32.
struct Function {
  static constexpr std::size_t kMostOperands = 3, kBlock = 64;
  using Block = std::array<float, kBlock>;
  using Blocks = std::array<Block, kMostOperands>;

  std::string_view name;
  std::size_t operands;
  void (*value)(const Blocks& x, Block& y);  ///< y = f(x[0], x[1], x[2])
  /// dy = dy * d y / d x[i], for each operand; null: it is 0 everywhere.
  std::array<void (*)(const Blocks& x, const Block& y, Block& dy), kMostOperands> slopes = {};
};

/// All functions, by name.
std::span<const Function> functions();

/// The operands of a function: arrays of n elements, or a number where there is none.
template <class T>
struct FunctionOperands {
  std::array<const T*, Function::kMostOperands> values = {};
  std::array<float, Function::kMostOperands> numbers = {};
};

/// y = f(x), n elements; y may be an operand. T: float or Bf16.
template <class T>
void apply(const Function& f, const FunctionOperands<T>& x, T* y, std::size_t n);

/// dx = dy d f / d x[operand], n elements; dx may be dy.
template <class T>
void apply_backward(const Function& f, std::size_t operand, const FunctionOperands<T>& x, const T* dy, T* dx,
                    std::size_t n);

}  // namespace convoke::nn
