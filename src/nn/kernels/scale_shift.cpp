#include "nn/kernels/scale_shift.hpp"

#include <algorithm>

#include "convoke/core/multiversion.hpp"
#include "nn/kernels/pieces.hpp"

namespace convoke::nn {
namespace {

template <class T>
[[gnu::always_inline]] inline void body(const ChannelBlocks& s, const ScaleShift& by, const T* x, T* y) {
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

//   dx = gamma dy,  dgamma = sum of x dy: floats within a plane, added up over samples
template <class T>
[[gnu::always_inline]] inline void backward_body(const ChannelBlocks& s, const float* gamma, const T* x,
                                                 const T* dy, T* dx, float* dgamma) {
  std::fill(dgamma, dgamma + s.padded_channels(), 0.0F);
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
              const float gradient = given[c];
              sum[c] += in[c] * gradient;
              out[c] = gamma[channel + c] * gradient;
            }
            out.put();
          }
          for (int c = 0; c < kWidth; ++c) dgamma[channel + c] += sum[c];
        });
  }
}

}  // namespace

CONVOKE_MULTIVERSION
void scale_shift(const ChannelBlocks& shape, const ScaleShift& by, const float* x, float* y) {
  body(shape, by, x, y);
}
CONVOKE_MULTIVERSION
void scale_shift(const ChannelBlocks& shape, const ScaleShift& by, const Bf16* x, Bf16* y) {
  body(shape, by, x, y);
}

CONVOKE_MULTIVERSION
void channel_scale_backward(const ChannelBlocks& shape, const float* gamma, const float* x, const float* dy,
                            float* dx, float* dgamma) {
  backward_body(shape, gamma, x, dy, dx, dgamma);
}
CONVOKE_MULTIVERSION
void channel_scale_backward(const ChannelBlocks& shape, const float* gamma, const Bf16* x, const Bf16* dy,
                            Bf16* dx, float* dgamma) {
  backward_body(shape, gamma, x, dy, dx, dgamma);
}

}  // namespace convoke::nn
