#include "nn/kernels/activation.hpp"

#include <algorithm>

#include "convoke/core/multiversion.hpp"
#include "nn/kernels/curves.hpp"
#include "nn/kernels/pieces.hpp"
#include "nn/kernels/stored.hpp"

namespace convoke::nn {
namespace {

/// Calls f(first, number) for pieces of 64 elements, a constant, and the rest one by one. bf16 goes through
/// floats piece by piece, since the compiler makes no vector operations of conversion and function in one
/// loop.
constexpr int kPiece = 64;
template <class F>
[[gnu::always_inline]] inline void for_each_64(std::size_t n, const F& f) {
  std::size_t i = 0;
  for (; i + kPiece <= n; i += kPiece) f(i, std::integral_constant<int, kPiece>{});
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

template <class T>
[[gnu::always_inline]] inline void prelu_body(const ChannelBlocks& s, const float* alpha, const T* x, T* y) {
  for (std::int64_t n = 0; n < s.samples; ++n) {
    for_each_piece(
        s, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
          constexpr int kWidth = decltype(width)::value;
          const std::int64_t first = plane_offset(s, s.pixels(), n, channel);
          for (std::int64_t p = 0; p < s.pixels(); ++p) {
#pragma omp simd
            for (int c = 0; c < kWidth; ++c) {
              const float value = x[first + p * s.block + c];
              y[first + p * s.block + c] = value < 0 ? alpha[channel + c] * value : value;
            }
          }
        });
  }
}

//   d alpha = sum of x dy over x < 0: floats within a plane, added up over samples
template <class T>
[[gnu::always_inline]] inline void prelu_backward_body(const ChannelBlocks& s, const float* alpha, const T* x,
                                                       const T* dy, T* dx, float* dalpha) {
  std::fill(dalpha, dalpha + s.padded_channels(), 0.0F);
  for (std::int64_t n = 0; n < s.samples; ++n) {
    for_each_piece(
        s, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
          constexpr int kWidth = decltype(width)::value;
          const std::int64_t first = plane_offset(s, s.pixels(), n, channel);
          float sum[kWidth] = {};
          for (std::int64_t p = 0; p < s.pixels(); ++p) {
#pragma omp simd
            for (int c = 0; c < kWidth; ++c) {
              const std::int64_t i = first + p * s.block + c;
              const float value = x[i], gradient = dy[i];
              sum[c] += value < 0 ? value * gradient : 0;
              dx[i] = value > 0 ? gradient : alpha[channel + c] * gradient;
            }
          }
          for (int c = 0; c < kWidth; ++c) dalpha[channel + c] += sum[c];
        });
  }
}

}  // namespace

CONVOKE_MULTIVERSION
void activate(Curve which, float alpha, const float* x, float* y, std::size_t n) {
  activate_body(which, alpha, x, y, n);
}
CONVOKE_MULTIVERSION
void activate(Curve which, float alpha, const Bf16* x, Bf16* y, std::size_t n) {
  activate_body(which, alpha, x, y, n);
}

CONVOKE_MULTIVERSION
void activate_backward(Curve which, float alpha, const float* kept, const float* dy, float* dx,
                       std::size_t n) {
  backward_body(which, alpha, kept, dy, dx, n);
}
CONVOKE_MULTIVERSION
void activate_backward(Curve which, float alpha, const Bf16* kept, const Bf16* dy, Bf16* dx, std::size_t n) {
  backward_body(which, alpha, kept, dy, dx, n);
}

CONVOKE_MULTIVERSION
void prelu(const ChannelBlocks& shape, const float* alpha, const float* x, float* y) {
  prelu_body(shape, alpha, x, y);
}
CONVOKE_MULTIVERSION
void prelu(const ChannelBlocks& shape, const float* alpha, const Bf16* x, Bf16* y) {
  prelu_body(shape, alpha, x, y);
}

CONVOKE_MULTIVERSION
void prelu_backward(const ChannelBlocks& shape, const float* alpha, const float* x, const float* dy,
                    float* dx, float* dalpha) {
  prelu_backward_body(shape, alpha, x, dy, dx, dalpha);
}
CONVOKE_MULTIVERSION
void prelu_backward(const ChannelBlocks& shape, const float* alpha, const Bf16* x, const Bf16* dy, Bf16* dx,
                    float* dalpha) {
  prelu_backward_body(shape, alpha, x, dy, dx, dalpha);
}

}  // namespace convoke::nn
