#include "nn/kernels/elementwise.hpp"

#include <algorithm>
#include <limits>

#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/pieces.hpp"

namespace convoke::nn {
namespace {

template <class T>
void add(const T* a, const T* b, T* sum, std::size_t n, bool relu) {
  const float floor = relu ? 0.0F : -std::numeric_limits<float>::infinity();
  for_each_sixteen(
      n, [=](auto width, std::size_t i) __attribute__((always_inline)) {
        constexpr int kWidth = decltype(width)::value;
        const In<T, kWidth> x(a + i), y(b + i);
        Out<T, kWidth> out(sum + i);
#pragma omp simd
        for (int c = 0; c < kWidth; ++c) {
          const float value = x[c] + y[c];
          out[c] = value <= floor ? floor : value;  // NaN remains NaN
        }
        out.put();
      });
}

template <class T>
void relu_backward(const T* y, const T* dy, T* dx, std::size_t n) {
  for_each_sixteen(
      n, [=](auto width, std::size_t i) __attribute__((always_inline)) {
        constexpr int kWidth = decltype(width)::value;
        const In<T, kWidth> value(y + i), gradient(dy + i);
        Out<T, kWidth> out(dx + i);
#pragma omp simd
        for (int c = 0; c < kWidth; ++c) out[c] = value[c] > 0 ? gradient[c] : 0.0F;
        out.put();
      });
}

}  // namespace

CONVOKE_KERNELS(ElementwiseKernels, add, relu_backward)

namespace {

constexpr std::size_t kMergedTogether = 256;  // elements whose sums or maxima stay in the cache

template <class T>
[[gnu::always_inline]] inline void scale(const T* x, float factor, T* y, std::size_t n) {
  for_each_sixteen(
      n, [&](auto width, std::size_t first) __attribute__((always_inline)) {
        constexpr int kWidth = decltype(width)::value;
        const In<T, kWidth> in(x + first);
        Out<T, kWidth> out(y + first);
#pragma omp simd
        for (int i = 0; i < kWidth; ++i) out[i] = in[i] * factor;
        out.put();
      });
}

template <class T>
void average(const T* const* inputs, std::size_t count, T* y, std::size_t n) {
  const float factor = 1.0F / static_cast<float>(count);
  for_each_sixteen(
      n, [&](auto width, std::size_t first) __attribute__((always_inline)) {
        constexpr int kWidth = decltype(width)::value;
        float sum[kWidth] = {};
        for (std::size_t input = 0; input < count; ++input) {
          const In<T, kWidth> in(inputs[input] + first);
#pragma omp simd
          for (int i = 0; i < kWidth; ++i) sum[i] += in[i];
        }
        Out<T, kWidth> out(y + first);
#pragma omp simd
        for (int i = 0; i < kWidth; ++i) out[i] = sum[i] * factor;
        out.put();
      });
}

template <class T>
void maximum(const T* const* inputs, std::size_t count, T* y, std::uint8_t* winners, std::size_t n) {
  float best[kMergedTogether], sum[kMergedTogether];
  int winner[kMergedTogether];
  for (std::size_t first = 0; first < n; first += kMergedTogether) {
    const std::size_t length = std::min(kMergedTogether, n - first);
    for (std::size_t i = 0; i < length; ++i) {
      best[i] = sum[i] = inputs[0][first + i];
      winner[i] = 0;
    }
    for (std::size_t input = 1; input < count; ++input) {
      const T* x = inputs[input] + first;
#pragma omp simd
      for (std::size_t i = 0; i < length; ++i) {
        const float value = x[i];
        winner[i] = value > best[i] ? static_cast<int>(input) : winner[i];
        best[i] = value > best[i] ? value : best[i];
        sum[i] = value != value ? value : sum[i];  // a NaN never wins a comparison, but must appear
      }
    }
#pragma omp simd
    for (std::size_t i = 0; i < length; ++i) y[first + i] = sum[i] == sum[i] ? best[i] : sum[i];
    if (winners == nullptr) continue;
#pragma omp simd
    for (std::size_t i = 0; i < length; ++i) winners[first + i] = static_cast<std::uint8_t>(winner[i]);
  }
}

template <class T>
void maximum_backward(const T* dy, const std::uint8_t* winners, std::uint8_t input, T* dx, std::size_t n) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) dx[i] = winners[i] == input ? static_cast<float>(dy[i]) : 0.0F;
}

template <class T>
void multiply(const T* a, const T* b, T* y, std::size_t n) {
  for_each_sixteen(
      n, [&](auto width, std::size_t first) __attribute__((always_inline)) {
        constexpr int kWidth = decltype(width)::value;
        const In<T, kWidth> u(a + first), v(b + first);
        Out<T, kWidth> out(y + first);
#pragma omp simd
        for (int i = 0; i < kWidth; ++i) out[i] = u[i] * v[i];
        out.put();
      });
}

/// One channel of plain (N, C, H, W), whose pixels are neighbors.
template <class T>
[[gnu::always_inline]] inline float plain_channel_backward(const T* x, float s, const T* dy, T* dx,
                                                           std::int64_t pixels) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t p = 0; p < pixels; ++p) sum += static_cast<float>(dy[p]) * static_cast<float>(x[p]);
  if (dx != nullptr) scale(dy, s, dx, static_cast<std::size_t>(pixels));
  return sum;
}

template <class T>
void multiply_channels(const ChannelBlocks& b, const T* x, const T* s, T* y) {
  for (std::int64_t n = 0; n < b.samples; ++n, s += b.padded_channels()) {
    for_each_piece(
        b, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
          constexpr int kWidth = decltype(width)::value;
          const std::int64_t at = plane_offset(b, b.pixels(), n, channel);
          if (b.block == 1) return scale(x + at, s[channel], y + at, static_cast<std::size_t>(b.pixels()));
          float factor[kWidth];
          for (int c = 0; c < kWidth; ++c) factor[c] = s[channel + c];
          for (std::int64_t p = 0; p < b.pixels(); ++p) {
            const In<T, kWidth> in(x + at + p * b.block);
            Out<T, kWidth> out(y + at + p * b.block);
#pragma omp simd
            for (int c = 0; c < kWidth; ++c) out[c] = in[c] * factor[c];
            out.put();
          }
        });
  }
}

template <class T>
void multiply_channels_backward(const ChannelBlocks& b, const T* x, const T* s, const T* dy, T* dx, T* ds) {
  for (std::int64_t n = 0; n < b.samples; ++n) {
    const std::int64_t row = n * b.padded_channels();
    for_each_piece(
        b, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
          constexpr int kWidth = decltype(width)::value;
          const std::int64_t at = plane_offset(b, b.pixels(), n, channel);
          float factor[kWidth], sum[kWidth] = {};
          for (int c = 0; c < kWidth; ++c) factor[c] = s[row + channel + c];
          if (b.block == 1) {
            sum[0] = plain_channel_backward(x + at, factor[0], dy + at, dx == nullptr ? nullptr : dx + at,
                                            b.pixels());
          } else {
            for (std::int64_t p = 0; p < b.pixels(); ++p) {
              const std::int64_t here = at + p * b.block;
              const In<T, kWidth> in(x + here), given(dy + here);
#pragma omp simd
              for (int c = 0; c < kWidth; ++c) sum[c] += given[c] * in[c];
              if (dx == nullptr) continue;
              Out<T, kWidth> out(dx + here);
#pragma omp simd
              for (int c = 0; c < kWidth; ++c) out[c] = given[c] * factor[c];
              out.put();
            }
          }
          if (ds == nullptr) return;
          for (int c = 0; c < kWidth; ++c) ds[row + channel + c] = sum[c];
        });
  }
}

}  // namespace

CONVOKE_KERNELS(MergeKernels, scale, average, maximum, maximum_backward, multiply, multiply_channels,
                multiply_channels_backward)

}  // namespace convoke::nn
