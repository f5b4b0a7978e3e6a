#include "nn/kernels/merge.hpp"

#include <algorithm>

#include "convoke/core/multiversion.hpp"
#include "nn/kernels/pieces.hpp"

namespace convoke::nn {
namespace {

constexpr std::size_t kMergedTogether = 256;  // elements whose sums or maxima stay in the cache

template <class T>
[[gnu::always_inline]] inline void scale_all(const T* x, float factor, T* y, std::size_t n) {
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
[[gnu::always_inline]] inline void average_body(const T* const* inputs, std::size_t count, T* y,
                                                std::size_t n) {
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
[[gnu::always_inline]] inline void maximum_body(const T* const* inputs, std::size_t count, T* y,
                                                std::uint8_t* winners, std::size_t n) {
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
[[gnu::always_inline]] inline void maximum_backward_body(const T* dy, const std::uint8_t* winners,
                                                         std::uint8_t input, T* dx, std::size_t n) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) dx[i] = winners[i] == input ? static_cast<float>(dy[i]) : 0.0F;
}

template <class T>
[[gnu::always_inline]] inline void multiply_body(const T* a, const T* b, T* y, std::size_t n) {
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
  if (dx != nullptr) scale_all(dy, s, dx, static_cast<std::size_t>(pixels));
  return sum;
}

template <class T>
[[gnu::always_inline]] inline void multiply_channels_body(const ChannelBlocks& b, const T* x, const T* s,
                                                          T* y) {
  for (std::int64_t n = 0; n < b.samples; ++n, s += b.padded_channels()) {
    for_each_piece(
        b, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
          constexpr int kWidth = decltype(width)::value;
          const std::int64_t at = plane_offset(b, b.pixels(), n, channel);
          if (b.block == 1)
            return scale_all(x + at, s[channel], y + at, static_cast<std::size_t>(b.pixels()));
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
[[gnu::always_inline]] inline void multiply_channels_backward_body(const ChannelBlocks& b, const T* x,
                                                                   const T* s, const T* dy, T* dx, T* ds) {
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

CONVOKE_MULTIVERSION
void scale(const float* x, float factor, float* y, std::size_t n) { scale_all(x, factor, y, n); }
CONVOKE_MULTIVERSION_BF16
void scale(const Bf16* x, float factor, Bf16* y, std::size_t n) { scale_all(x, factor, y, n); }

CONVOKE_MULTIVERSION
void average(const float* const* inputs, std::size_t count, float* y, std::size_t n) {
  average_body(inputs, count, y, n);
}
CONVOKE_MULTIVERSION_BF16
void average(const Bf16* const* inputs, std::size_t count, Bf16* y, std::size_t n) {
  average_body(inputs, count, y, n);
}

CONVOKE_MULTIVERSION
void maximum(const float* const* inputs, std::size_t count, float* y, std::uint8_t* winners, std::size_t n) {
  maximum_body(inputs, count, y, winners, n);
}
CONVOKE_MULTIVERSION_BF16
void maximum(const Bf16* const* inputs, std::size_t count, Bf16* y, std::uint8_t* winners, std::size_t n) {
  maximum_body(inputs, count, y, winners, n);
}

CONVOKE_MULTIVERSION
void maximum_backward(const float* dy, const std::uint8_t* winners, std::uint8_t input, float* dx,
                      std::size_t n) {
  maximum_backward_body(dy, winners, input, dx, n);
}
CONVOKE_MULTIVERSION_BF16
void maximum_backward(const Bf16* dy, const std::uint8_t* winners, std::uint8_t input, Bf16* dx,
                      std::size_t n) {
  maximum_backward_body(dy, winners, input, dx, n);
}

CONVOKE_MULTIVERSION
void multiply(const float* a, const float* b, float* y, std::size_t n) { multiply_body(a, b, y, n); }
CONVOKE_MULTIVERSION_BF16
void multiply(const Bf16* a, const Bf16* b, Bf16* y, std::size_t n) { multiply_body(a, b, y, n); }

CONVOKE_MULTIVERSION
void multiply_channels(const ChannelBlocks& blocks, const float* x, const float* s, float* y) {
  multiply_channels_body(blocks, x, s, y);
}
CONVOKE_MULTIVERSION_BF16
void multiply_channels(const ChannelBlocks& blocks, const Bf16* x, const Bf16* s, Bf16* y) {
  multiply_channels_body(blocks, x, s, y);
}

CONVOKE_MULTIVERSION
void multiply_channels_backward(const ChannelBlocks& blocks, const float* x, const float* s, const float* dy,
                                float* dx, float* ds) {
  multiply_channels_backward_body(blocks, x, s, dy, dx, ds);
}
CONVOKE_MULTIVERSION_BF16
void multiply_channels_backward(const ChannelBlocks& blocks, const Bf16* x, const Bf16* s, const Bf16* dy,
                                Bf16* dx, Bf16* ds) {
  multiply_channels_backward_body(blocks, x, s, dy, dx, ds);
}

}  // namespace convoke::nn
