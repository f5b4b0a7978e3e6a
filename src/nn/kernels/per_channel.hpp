#pragma once
#include "nn/channel_blocks.hpp"
#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// Functions with a learned parameter for each channel. `alpha`, `gamma` and their gradients: (padded
/// channels).

/// y = x > 0 ? x : alpha x; y may be x.
void prelu(const ChannelBlocks& shape, const float* alpha, const float* x, float* y);
void prelu(const ChannelBlocks& shape, const float* alpha, const Bf16* x, Bf16* y);

/// Computes dx, and d alpha, overwritten; dx may be dy.
void prelu_backward(const ChannelBlocks& shape, const float* alpha, const float* x, const float* dy,
                    float* dx, float* dalpha);
void prelu_backward(const ChannelBlocks& shape, const float* alpha, const Bf16* x, const Bf16* dy, Bf16* dx,
                    float* dalpha);

/// Computes the gradients of y = gamma x (scale_shift): dx, which may be dy, and d gamma, overwritten.
void channel_scale_backward(const ChannelBlocks& shape, const float* gamma, const float* x, const float* dy,
                            float* dx, float* dgamma);
void channel_scale_backward(const ChannelBlocks& shape, const float* gamma, const Bf16* x, const Bf16* dy,
                            Bf16* dx, float* dgamma);

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
