#pragma once
#include <cstddef>

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

template <class T>
struct ActivationKernels {
  /// y = f(x), n elements; y may be x.
  void (*activate)(Curve curve, float alpha, const T* x, T* y, std::size_t n);

  /// dx = dy f'. `kept` is x or y, see slope_needs_x(); n elements; dx may be dy.
  void (*activate_backward)(Curve curve, float alpha, const T* kept, const T* dy, T* dx, std::size_t n);
};

}  // namespace convoke::nn
