#pragma once
#include "nn/channel_blocks.hpp"
#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// y = gamma (x - mean) / sqrt(var + eps) + beta, with mean and biased variance over the channels of each
/// pixel of each sample: J. Ba, J. Kiros, G. Hinton, "Layer normalization", 2016. gamma, beta: padded
/// channels. mean and scale = 1 / sqrt(var + eps): (N, pixels), kept for backward.
void layer_norm_forward(const ChannelBlocks& shape, const float* x, const float* gamma, const float* beta,
                        float epsilon, float* mean, float* scale, float* y);
void layer_norm_forward(const ChannelBlocks& shape, const Bf16* x, const float* gamma, const float* beta,
                        float epsilon, float* mean, float* scale, Bf16* y);

/// Computes dx (may be dy), d gamma and d beta (padded channels, overwritten). `partial`: scratch memory of 2
/// x padded channels.
void layer_norm_backward(const ChannelBlocks& shape, const float* x, const float* dy, const float* gamma,
                         const float* mean, const float* scale, float* partial, float* dx, float* dgamma,
                         float* dbeta);
void layer_norm_backward(const ChannelBlocks& shape, const Bf16* x, const Bf16* dy, const float* gamma,
                         const float* mean, const float* scale, float* partial, Bf16* dx, float* dgamma,
                         float* dbeta);

}  // namespace convoke::nn
