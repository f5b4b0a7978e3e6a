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

template <class T>
struct CopyBoxKernels {
  /// y = x within the box, or y += x with `add`. Channels in equal blocks are copied without reordering,
  /// whole planes at once.
  void (*copy_box)(const CopyBox& box, const T* x, T* y, bool add);

  /// y[:, i * groups + g] = x[:, g * C / groups + i], both in the layout `blocks`; padding becomes 0. The
  /// inverse has C / groups groups.
  void (*channel_shuffle)(const ChannelBlocks& blocks, std::int64_t groups, const T* x, T* y);
};

}  // namespace convoke::nn
