#include "nn/kernels/scale_shift.hpp"

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

}  // namespace

CONVOKE_MULTIVERSION
void scale_shift(const ChannelBlocks& shape, const ScaleShift& by, const float* x, float* y) {
  body(shape, by, x, y);
}
CONVOKE_MULTIVERSION
void scale_shift(const ChannelBlocks& shape, const ScaleShift& by, const Bf16* x, Bf16* y) {
  body(shape, by, x, y);
}

}  // namespace convoke::nn
