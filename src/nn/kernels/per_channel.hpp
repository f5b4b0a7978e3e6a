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

/// Functions with a learned parameter for each channel. `alpha`, `gamma` and their gradients: (padded
/// channels).
template <class T>
struct PerChannelKernels {
  /// y = x > 0 ? x : alpha x; y may be x.
  void (*prelu)(const ChannelBlocks& shape, const float* alpha, const T* x, T* y);

  /// Computes dx, and d alpha, overwritten; dx may be dy.
  void (*prelu_backward)(const ChannelBlocks& shape, const float* alpha, const T* x, const T* dy, T* dx,
                         float* dalpha);

  /// Computes the gradients of y = gamma x (scale_shift): dx, which may be dy, and d gamma, overwritten.
  void (*channel_scale_backward)(const ChannelBlocks& shape, const float* gamma, const T* x, const T* dy,
                                 T* dx, float* dgamma);

  /// y = scale x + shift; y may be x.
  void (*scale_shift)(const ChannelBlocks& shape, const ScaleShift& by, const T* x, T* y);
};

}  // namespace convoke::nn
