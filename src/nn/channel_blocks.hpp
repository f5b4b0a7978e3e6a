#pragma once
#include <cstdint>

#include "nn/dnnl.hpp"

namespace convoke::nn {

/// How our own kernels read a tensor: (N, outer, pixels, block), dense, channel = outer index * block + inner
/// index. This form covers plain nchw (block 1), nhwc (one outer, block C), oneDNN's nChw16c and nChw8c, and
/// (N, F).
struct ChannelBlocks {
  std::int64_t samples = 0;
  std::int64_t channels = 0;  ///< logical channels; outer * block >= channels, the rest is padding and zero
  std::int64_t outer = 0;
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t block = 1;

  /// nChw16c instead of nhwc: with 16 channels the memory is the same, but oneDNN distinguishes them
  bool nested = false;

  std::int64_t pixels() const { return height * width; }
  std::int64_t sample_size() const { return outer * pixels() * block; }
  std::int64_t padded_channels() const { return outer * block; }
};

/// Returns true and fills `blocks` if `desc` has such a layout.
bool channel_blocks(const Desc& desc, ChannelBlocks& blocks);

/// Returns the layout of `like` (its channel blocking) for other dims, or another type.
Desc with_layout_of(const ChannelBlocks& like, const Dims& dims, Type type);

}  // namespace convoke::nn
