#include "nn/kernels/channel_shuffle.hpp"

#include <algorithm>

#include "convoke/core/multiversion.hpp"
#include "nn/kernels/pieces.hpp"

namespace convoke::nn {
namespace {

template <class T>
[[gnu::always_inline]] inline void shuffle(const ChannelBlocks& b, std::int64_t groups, const T* x, T* y) {
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

CONVOKE_MULTIVERSION
void channel_shuffle(const ChannelBlocks& blocks, std::int64_t groups, const float* x, float* y) {
  shuffle(blocks, groups, x, y);
}
CONVOKE_MULTIVERSION
void channel_shuffle(const ChannelBlocks& blocks, std::int64_t groups, const Bf16* x, Bf16* y) {
  shuffle(blocks, groups, x, y);
}

}  // namespace convoke::nn
