#include "nn/channel_blocks.hpp"

namespace convoke::nn {

bool channel_blocks(const Desc& desc, ChannelBlocks& blocks) {
  const BlockedFormat format = blocked_format(desc);
  const Dims dims = dims_of(desc);
  if (!format.blocked || (dims.size() != 2 && dims.size() != 4)) return false;
  const bool image = dims.size() == 4;
  blocks.samples = dims[0];
  blocks.channels = dims[1];
  blocks.height = image ? dims[2] : 1;
  blocks.width = image ? dims[3] : 1;
  const std::int64_t pixels = blocks.pixels();
  blocks.nested = !format.inner.empty();
  if (blocks.nested) {
    if (format.inner.size() != 1 || format.inner[0].second != 1) return false;
    blocks.block = format.inner[0].first;
  } else if (pixels == 1 || format.strides[1] == 1) {
    blocks.block = dims[1];  // (N, F) or nhwc
  } else {
    blocks.block = 1;  // nchw
  }
  blocks.outer = (dims[1] + blocks.block - 1) / blocks.block;
  // Is it dense in the order (N, outer, H, W, block)?
  const auto same = [](std::int64_t extent, std::int64_t stride, std::int64_t expected) {
    return extent == 1 || stride == expected;
  };
  if (!same(dims[0], format.strides[0], blocks.sample_size())) return false;
  if (format.inner.empty() && blocks.block > 1 && !same(dims[1], format.strides[1], 1)) return false;
  if (blocks.outer > 1 && format.strides[1] != pixels * blocks.block) return false;
  if (!image) return true;
  return same(dims[2], format.strides[2], blocks.width * blocks.block) &&
         same(dims[3], format.strides[3], blocks.block);
}

Desc with_layout_of(const ChannelBlocks& like, const Dims& dims, Type type) {
  if (dims.size() == 2) return Desc(dims, type, Format::nc);
  if (!like.nested && like.outer == 1 && like.block == like.channels) return Desc(dims, type, Format::nhwc);
  switch (like.block) {
    case 16:
      return Desc(dims, type, Format::nChw16c);
    case 8:
      return Desc(dims, type, Format::nChw8c);
    case 4:
      return Desc(dims, type, Format::nChw4c);
    default:
      return Desc(dims, type, Format::nchw);
  }
}

}  // namespace convoke::nn
