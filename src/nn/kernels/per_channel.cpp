#include "nn/kernels/per_channel.hpp"

#include <algorithm>

#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/pieces.hpp"

namespace convoke::nn {

namespace {

template <class T>
void prelu(const ChannelBlocks& s, const float* alpha, const T* x, T* y) {
  for (std::int64_t n = 0; n < s.samples; ++n) {
    for_each_piece(
        s, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
          constexpr int kWidth = decltype(width)::value;
          const std::int64_t first = plane_offset(s, s.pixels(), n, channel);
          for (std::int64_t p = 0; p < s.pixels(); ++p) {
            const In<T, kWidth> in(x + first + p * s.block);
            Out<T, kWidth> out(y + first + p * s.block);
#pragma omp simd
            for (int c = 0; c < kWidth; ++c) out[c] = in[c] < 0 ? alpha[channel + c] * in[c] : in[c];
            out.put();
          }
        });
  }
}

/// dx = dy slope(x, p) and dp = sum of dy share(x), where p is the channel's parameter. Sums floats within a
/// plane, then over samples.
template <class T, class Slope, class Share>
[[gnu::always_inline]] inline void backward_body(const ChannelBlocks& s, const float* parameter, const T* x,
                                                 const T* dy, T* dx, float* gradient, const Slope& slope,
                                                 const Share& share) {
  std::fill(gradient, gradient + s.padded_channels(), 0.0F);
  for (std::int64_t n = 0; n < s.samples; ++n) {
    for_each_piece(
        s, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
          constexpr int kWidth = decltype(width)::value;
          const std::int64_t first = plane_offset(s, s.pixels(), n, channel);
          float sum[kWidth] = {};
          for (std::int64_t p = 0; p < s.pixels(); ++p) {
            const In<T, kWidth> in(x + first + p * s.block), given(dy + first + p * s.block);
            Out<T, kWidth> out(dx + first + p * s.block);
#pragma omp simd
            for (int c = 0; c < kWidth; ++c) {
              const float value = in[c], incoming = given[c];
              sum[c] += share(value) * incoming;
              out[c] = slope(value, parameter[channel + c]) * incoming;
            }
            out.put();
          }
          for (int c = 0; c < kWidth; ++c) gradient[channel + c] += sum[c];
        });
  }
}

template <class T>
void prelu_backward(const ChannelBlocks& shape, const float* alpha, const T* x, const T* dy, T* dx,
                    float* dalpha) {
  backward_body(
      shape, alpha, x, dy, dx, dalpha,
      [](float value, float a) __attribute__((always_inline)) { return value > 0 ? 1.0F : a; },
      [](float value) __attribute__((always_inline)) { return value < 0 ? value : 0.0F; });
}

template <class T>
void channel_scale_backward(const ChannelBlocks& shape, const float* gamma, const T* x, const T* dy, T* dx,
                            float* dgamma) {
  backward_body(
      shape, gamma, x, dy, dx, dgamma, [](float, float g) __attribute__((always_inline)) { return g; },
      [](float value) __attribute__((always_inline)) { return value; });
}

template <class T>
void scale_shift(const ChannelBlocks& s, const ScaleShift& by, const T* x, T* y) {
  for (std::int64_t n = 0; n < s.samples; ++n) {
    const std::int64_t row = by.per_sample ? n * s.padded_channels() : 0;
    for_each_piece(
        s, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
          constexpr int kWidth = decltype(width)::value;
          const std::int64_t first = plane_offset(s, s.pixels(), n, channel);
          float a[kWidth], b[kWidth];
          for (int c = 0; c < kWidth; ++c) {
            a[c] = by.scale[row + channel + c];
            b[c] = by.shift == nullptr ? 0 : by.shift[row + channel + c];
          }
          for (std::int64_t p = 0; p < s.pixels(); ++p) {
            const In<T, kWidth> in(x + first + p * s.block);
            Out<T, kWidth> out(y + first + p * s.block);
#pragma omp simd
            for (int c = 0; c < kWidth; ++c) out[c] = a[c] * in[c] + b[c];
            out.put();
          }
        });
  }
}

}  // namespace

CONVOKE_KERNELS(PerChannelKernels, prelu, prelu_backward, channel_scale_backward, scale_shift)

}  // namespace convoke::nn
