#pragma once
#include <cstdint>

#include "nn/channel_blocks.hpp"
#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// A part of a tensor, (channels, rows, columns) of every sample, and its place in another tensor. The two
/// tensors may have different blocks.
struct CopyBox {
  struct Place {
    ChannelBlocks blocks;
    std::int64_t channel = 0, row = 0, column = 0;
  };
  Place from, to;
  std::int64_t channels, rows, columns;
};

/// y = x within the box, or y += x with `add`. Channels in equal blocks are copied without reordering, whole
/// planes at once.
void copy_box(const CopyBox& box, const float* x, float* y, bool add);
void copy_box(const CopyBox& box, const Bf16* x, Bf16* y, bool add);

/// Sets the channels after the last, which fill its block, to 0.
void clear_padding(const ChannelBlocks& blocks, float* y);
void clear_padding(const ChannelBlocks& blocks, Bf16* y);

/// y[:, i * groups + g] = x[:, g * C / groups + i], both in the layout `blocks`; padding becomes 0. The
/// inverse has C / groups groups.
void channel_shuffle(const ChannelBlocks& blocks, std::int64_t groups, const float* x, float* y);
void channel_shuffle(const ChannelBlocks& blocks, std::int64_t groups, const Bf16* x, Bf16* y);

}  // namespace convoke::nn
