#pragma once
#include "nn/channel_blocks.hpp"
#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

template <class T>
struct LayerNormKernels {
  /// y = gamma (x - mean) / sqrt(var + eps) + beta, with mean and biased variance over the channels of each
  /// pixel of each sample: J. Ba, J. Kiros, G. Hinton, "Layer normalization", 2016. gamma, beta: padded
  /// channels. mean and scale = 1 / sqrt(var + eps): (N, pixels), kept for backward.
  void (*forward)(const ChannelBlocks& shape, const T* x, const float* gamma, const float* beta,
                  float epsilon, float* mean, float* scale, T* y);

  /// Computes dx (may be dy), d gamma and d beta (padded channels, overwritten). `partial`: scratch memory of
  /// 2 x padded channels.
  void (*backward)(const ChannelBlocks& shape, const T* x, const T* dy, const float* gamma, const float* mean,
                   const float* scale, float* partial, T* dx, float* dgamma, float* dbeta);
};

}  // namespace convoke::nn
