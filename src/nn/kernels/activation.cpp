#include "nn/kernels/activation.hpp"

#include <algorithm>
#include <cmath>

#include "convoke/core/multiversion.hpp"
#include "nn/kernels/curves.hpp"
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
[[gnu::always_inline]] inline void activate_body(Curve which, float alpha, const T* x, T* y, std::size_t n) {
  with_curve(
      which, [&](auto c) __attribute__((always_inline)) { forward<decltype(c)::value>(alpha, x, y, n); });
}
template <class T>
[[gnu::always_inline]] inline void backward_body(Curve which, float alpha, const T* kept, const T* dy, T* dx,
                                                 std::size_t n) {
  with_curve(
      which, [&](auto c)
                 __attribute__((always_inline)) { backward<decltype(c)::value>(alpha, kept, dy, dx, n); });
}

}  // namespace

CONVOKE_MULTIVERSION
void activate(Curve which, float alpha, const float* x, float* y, std::size_t n) {
  activate_body(which, alpha, x, y, n);
}
CONVOKE_MULTIVERSION_BF16
void activate(Curve which, float alpha, const Bf16* x, Bf16* y, std::size_t n) {
  activate_body(which, alpha, x, y, n);
}

CONVOKE_MULTIVERSION
void activate_backward(Curve which, float alpha, const float* kept, const float* dy, float* dx,
                       std::size_t n) {
  backward_body(which, alpha, kept, dy, dx, n);
}
CONVOKE_MULTIVERSION_BF16
void activate_backward(Curve which, float alpha, const Bf16* kept, const Bf16* dy, Bf16* dx, std::size_t n) {
  backward_body(which, alpha, kept, dy, dx, n);
}

namespace {

// y = exp(x - max x). Returns the sum of y.
float exponentials(const float* x, float* y, std::int64_t classes) {
  const float largest = *std::max_element(x, x + classes);
  float sum = 0;
  for (std::int64_t k = 0; k < classes; ++k) sum += y[k] = std::exp(x[k] - largest);
  return sum;
}

}  // namespace

void softmax_forward(const float* x, float* y, std::int64_t n, std::int64_t classes) {
  for (std::int64_t i = 0; i < n; ++i, x += classes, y += classes) {
    const float scale = 1.0F / exponentials(x, y, classes);
    for (std::int64_t k = 0; k < classes; ++k) y[k] *= scale;
  }
}

void softmax_backward(const float* y, const float* dy, float* dx, std::int64_t n, std::int64_t classes) {
  for (std::int64_t i = 0; i < n; ++i, y += classes, dy += classes, dx += classes) {
    float dot = 0;
    for (std::int64_t k = 0; k < classes; ++k) dot += dy[k] * y[k];
    for (std::int64_t k = 0; k < classes; ++k) dx[k] = y[k] * (dy[k] - dot);
  }
}

}  // namespace convoke::nn
