#pragma once
#include <cstddef>
#include <cstdint>

#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// Element-wise functions. The formulas show which use the parameter `alpha`.
enum class Curve {
  kRelu6,        ///< min(max(x, 0), 6)
  kLeakyRelu,    ///< x > 0 ? x : alpha x, alpha >= 0
  kElu,          ///< x > 0 ? x : alpha (e^x - 1), alpha >= 0
  kSelu,         ///< 1.0507 elu(x) with alpha 1.6733
  kGelu,         ///< x Phi(x), Phi the normal distribution
  kGeluTanh,     ///< x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
  kSilu,         ///< x / (1 + e^-x)
  kHardSwish,    ///< x relu6(x + 3) / 6
  kHardSigmoid,  ///< relu6(x + 3) / 6
  kSoftplus,     ///< log(1 + e^x)
};

/// True if the slope is computed from x, and not from y. If false, x need not be kept.
constexpr bool slope_needs_x(Curve curve) {
  return curve == Curve::kGelu || curve == Curve::kGeluTanh || curve == Curve::kSilu ||
         curve == Curve::kHardSwish;
}

/// y = f(x), n elements; y may be x.
void activate(Curve curve, float alpha, const float* x, float* y, std::size_t n);
void activate(Curve curve, float alpha, const Bf16* x, Bf16* y, std::size_t n);

/// dx = dy f'. `kept` is x or y, see slope_needs_x(); n elements; dx may be dy.
void activate_backward(Curve curve, float alpha, const float* kept, const float* dy, float* dx,
                       std::size_t n);
void activate_backward(Curve curve, float alpha, const Bf16* kept, const Bf16* dy, Bf16* dx, std::size_t n);

/// y = softmax(x) for each row, (n, classes) each; y may be x. Subtracts the row's maximum first.
void softmax_forward(const float* x, float* y, std::int64_t n, std::int64_t classes);

/// dx = y (dy - sum_j dy_j y_j) for each row; dx may be dy.
void softmax_backward(const float* y, const float* dy, float* dx, std::int64_t n, std::int64_t classes);

}  // namespace convoke::nn
