#pragma once
#include "nn/channel_blocks.hpp"
#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// One factor, and one term if `shift` is not null, for each channel: (padded channels), or for each sample
/// and channel: (N, padded channels). Factors and terms of the padding must be zero.
struct ScaleShift {
  const float* scale = nullptr;
  const float* shift = nullptr;
  bool per_sample = false;
};

/// y = scale x + shift; y may be x.
void scale_shift(const ChannelBlocks& shape, const ScaleShift& by, const float* x, float* y);
void scale_shift(const ChannelBlocks& shape, const ScaleShift& by, const Bf16* x, Bf16* y);

}  // namespace convoke::nn
