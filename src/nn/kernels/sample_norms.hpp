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

/// Group normalization: mean and biased variance over the pixels and the channels of a group, for each sample
/// separately. Y. Wu, K. He, "Group normalization", ECCV 2018.
struct GroupNormShape {
  ChannelBlocks in;
  std::int64_t groups = 1;  ///< divides in.channels
  std::int64_t group_channels() const { return in.channels / groups; }
};

/// Values that forward keeps for backward: mean and scale = 1 / sqrt(var + eps), (N, padded channels), equal
/// in all channels of a group, zero in the padding. first, second: scratch memory of padded channels each.
struct GroupNormMemory {
  float* mean = nullptr;
  float* scale = nullptr;
  float* first = nullptr;
  float* second = nullptr;
};

template <class T>
struct GroupNormKernels {
  /// y = gamma (x - mean) * scale + beta; gamma, beta: padded channels.
  void (*forward)(const GroupNormShape& shape, const T* x, const float* gamma, const float* beta,
                  float epsilon, const GroupNormMemory& memory, T* y);

  /// Computes dx (may be dy), d gamma and d beta (padded channels, overwritten).
  void (*backward)(const GroupNormShape& shape, const T* x, const T* dy, const float* gamma,
                   const GroupNormMemory& memory, T* dx, float* dgamma, float* dbeta);
};

}  // namespace convoke::nn
