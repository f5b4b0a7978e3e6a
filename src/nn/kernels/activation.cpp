#include "nn/kernels/activation.hpp"

#include <algorithm>
#include <cmath>

#include "nn/kernels/curves.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/stored.hpp"

namespace convoke::nn {

namespace {

/// Calls f(first, count) for pieces of 64 elements (a constant), and then for the rest one by one. bf16 is
/// converted to floats piece by piece, because the compiler does not vectorize the conversion and the
/// function in one loop.
constexpr int kCurveBlock = 64;
template <class F>
[[gnu::always_inline]] inline void for_each_64(std::size_t n, const F& f) {
  std::size_t i = 0;
  for (; i + kCurveBlock <= n; i += kCurveBlock) f(i, std::integral_constant<int, kCurveBlock>{});
  for (; i < n; ++i) f(i, std::integral_constant<int, 1>{});
}

template <Curve kCurve, class T>
[[gnu::always_inline]] inline void forward(float alpha, const T* x, T* y, std::size_t n) {
  for_each_64(
      n, [&](std::size_t first, auto number) __attribute__((always_inline)) {
        constexpr int kNumber = decltype(number)::value;
        float v[kNumber];
#pragma omp simd
        for (int i = 0; i < kNumber; ++i) v[i] = x[first + i];
#pragma omp simd
        for (int i = 0; i < kNumber; ++i) v[i] = curve<kCurve>(v[i], alpha);
#pragma omp simd
        for (int i = 0; i < kNumber; ++i) store(y + first + i, v[i]);
      });
}

template <Curve kCurve, class T>
[[gnu::always_inline]] inline void backward(float alpha, const T* kept, const T* dy, T* dx, std::size_t n) {
  for_each_64(
      n, [&](std::size_t first, auto number) __attribute__((always_inline)) {
        constexpr int kNumber = decltype(number)::value;
        float v[kNumber], g[kNumber];
#pragma omp simd
        for (int i = 0; i < kNumber; ++i) v[i] = kept[first + i];
#pragma omp simd
        for (int i = 0; i < kNumber; ++i) g[i] = dy[first + i];
#pragma omp simd
        for (int i = 0; i < kNumber; ++i) g[i] *= slope<kCurve>(v[i], alpha);
#pragma omp simd
        for (int i = 0; i < kNumber; ++i) store(dx + first + i, g[i]);
      });
}

/// Calls f with the curve as a constant.
template <class F>
[[gnu::always_inline]] inline void with_curve(Curve which, const F& f) {
  switch (which) {
    case Curve::kRelu6:
      return f(std::integral_constant<Curve, Curve::kRelu6>{});
    case Curve::kLeakyRelu:
      return f(std::integral_constant<Curve, Curve::kLeakyRelu>{});
    case Curve::kElu:
      return f(std::integral_constant<Curve, Curve::kElu>{});
    case Curve::kSelu:
      return f(std::integral_constant<Curve, Curve::kSelu>{});
    case Curve::kGelu:
      return f(std::integral_constant<Curve, Curve::kGelu>{});
    case Curve::kGeluTanh:
      return f(std::integral_constant<Curve, Curve::kGeluTanh>{});
    case Curve::kSilu:
      return f(std::integral_constant<Curve, Curve::kSilu>{});
    case Curve::kHardSwish:
      return f(std::integral_constant<Curve, Curve::kHardSwish>{});
    case Curve::kHardSigmoid:
      return f(std::integral_constant<Curve, Curve::kHardSigmoid>{});
    case Curve::kSoftplus:
      return f(std::integral_constant<Curve, Curve::kSoftplus>{});
  }
}

template <class T>
void activate(Curve which, float alpha, const T* x, T* y, std::size_t n) {
  with_curve(
      which, [&](auto c) __attribute__((always_inline)) { forward<decltype(c)::value>(alpha, x, y, n); });
}
template <class T>
void activate_backward(Curve which, float alpha, const T* kept, const T* dy, T* dx, std::size_t n) {
  with_curve(
      which, [&](auto c)
                 __attribute__((always_inline)) { backward<decltype(c)::value>(alpha, kept, dy, dx, n); });
}

}  // namespace

CONVOKE_KERNELS(ActivationKernels, activate, activate_backward)

}  // namespace convoke::nn
