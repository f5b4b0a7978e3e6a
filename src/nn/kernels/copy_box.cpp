#include "nn/kernels/copy_box.hpp"

#include <algorithm>

#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/pieces.hpp"

namespace convoke::nn {

namespace {

template <class T>
[[gnu::always_inline]] inline void take(const T* x, T* y, std::int64_t n, bool add) {
  if (!add) {
    std::copy_n(x, n, y);
    return;
  }
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(y[i]) + static_cast<float>(x[i]);
}

/// Copies `run` channels of `pixels` neighboring pixels, which are `from` and `to` elements apart.
template <class T>
[[gnu::always_inline]] inline void take_pixels(const T* x, std::int64_t from, T* y, std::int64_t to,
                                               std::int64_t run, std::int64_t pixels, bool add) {
  if (run == from && run == to) return take(x, y, run * pixels, add);
  for (std::int64_t p = 0; p < pixels; ++p) {
    for (std::int64_t c = 0; c < run; ++c) {
      const float before = add ? static_cast<float>(y[p * to + c]) : 0.0F;
      y[p * to + c] = add ? T(before + static_cast<float>(x[p * from + c])) : x[p * from + c];
    }
  }
}

template <class T>
void copy_box(const CopyBox& box, const T* x, T* y, bool add) {
  const ChannelBlocks &a = box.from.blocks, &b = box.to.blocks;
  // Treats rows of full width as one long row.
  const bool full = box.columns == a.width && box.columns == b.width;
  const std::int64_t rows = full ? 1 : box.rows;
  const std::int64_t columns = full ? box.rows * box.columns : box.columns;
  for (std::int64_t n = 0; n < a.samples; ++n) {
    for (std::int64_t c = 0, run = 0; c < box.channels; c += run) {
      const std::int64_t i = box.from.channel + c, o = box.to.channel + c;
      run = std::min({box.channels - c, a.block - i % a.block, b.block - o % b.block});
      const T* source = x + plane_offset(a, a.pixels(), n, i);
      T* target = y + plane_offset(b, b.pixels(), n, o);
      for (std::int64_t row = 0; row < rows; ++row) {
        take_pixels(source + ((box.from.row + row) * a.width + box.from.column) * a.block, a.block,
                    target + ((box.to.row + row) * b.width + box.to.column) * b.block, b.block, run, columns,
                    add);
      }
    }
  }
}

template <class T>
void channel_shuffle(const ChannelBlocks& b, std::int64_t groups, const T* x, T* y) {
  const std::int64_t each = b.channels / groups;
  for (std::int64_t n = 0; n < b.samples; ++n) {
    for_each_piece(
        b, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
          constexpr int kWidth = decltype(width)::value;
          std::int64_t from[kWidth];
          bool padding = false;
          for (int c = 0; c < kWidth; ++c) {
            const std::int64_t o = channel + c;
            padding = padding || o >= b.channels;
            from[c] = o < b.channels ? plane_offset(b, b.pixels(), n, o % groups * each + o / groups) : 0;
          }
          T* out = y + plane_offset(b, b.pixels(), n, channel);
          if (b.block == 1) {
            std::copy_n(x + from[0], b.pixels(), out);
            return;
          }
          for (std::int64_t p = 0; p < b.pixels(); ++p) {
            for (int c = 0; c < kWidth; ++c) out[p * b.block + c] = x[from[c] + p * b.block];
            if (!padding) continue;
            for (int c = 0; c < kWidth; ++c) {
              if (channel + c >= b.channels) out[p * b.block + c] = T{};
            }
          }
        });
  }
}

}  // namespace

CONVOKE_KERNELS(CopyBoxKernels, copy_box, channel_shuffle)

}  // namespace convoke::nn
