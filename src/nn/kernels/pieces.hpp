#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "nn/channel_blocks.hpp"
#include "nn/kernels/instruction_sets.hpp"

namespace convoke::nn {

/// Our kernels work on pieces of 16, 8 or 1 neighboring channels. The innermost loop has a constant length,
/// is marked `omp simd`, and becomes one vector operation of the instruction set; only AVX-512 has vectors of
/// 16 floats. Calls f(width, first channel), where width is a std::integral_constant, until all padded
/// channels of the blocks `first` to `end` (exclusive) are covered; a piece never crosses a block.
template <class F>
[[gnu::always_inline]] inline void for_each_piece(const ChannelBlocks& blocks, std::int64_t first,
                                                  std::int64_t end, const F& f) {
  for (std::int64_t outer = first; outer < end; ++outer) {
    std::int64_t c = 0;
    if constexpr (kThisSet == InstructionSet::kAvx512) {
      for (; c + 16 <= blocks.block; c += 16) f(std::integral_constant<int, 16>{}, outer * blocks.block + c);
    }
    for (; c + 8 <= blocks.block; c += 8) f(std::integral_constant<int, 8>{}, outer * blocks.block + c);
    for (; c < blocks.block; ++c) f(std::integral_constant<int, 1>{}, outer * blocks.block + c);
  }
}

template <class F>
[[gnu::always_inline]] inline void for_each_piece(const ChannelBlocks& blocks, const F& f) {
  for_each_piece(blocks, 0, blocks.outer, f);
}

/// Returns the offset of a channel's first pixel in a tensor of `pixels` pixels with the channel blocking
/// `b`.
[[gnu::always_inline]] inline std::int64_t plane_offset(const ChannelBlocks& b, std::int64_t pixels,
                                                        std::int64_t sample, std::int64_t channel) {
  return (sample * b.outer + channel / b.block) * pixels * b.block + channel % b.block;
}

/// Zeroes the padding channels of a tensor; all kernels rely on these zeroes.
template <class T>
void clear_padding(const ChannelBlocks& b, T* values) {
  const std::int64_t used = b.channels % b.block;
  if (used == 0) return;
  for (std::int64_t n = 0; n < b.samples; ++n) {
    T* last = values + ((n * b.outer + b.outer - 1) * b.pixels()) * b.block;
    for (std::int64_t p = 0; p < b.pixels(); ++p)
      std::fill(last + p * b.block + used, last + (p + 1) * b.block, T{});
  }
}

}  // namespace convoke::nn
