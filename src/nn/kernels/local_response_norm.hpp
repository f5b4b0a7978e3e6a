#pragma once
#include "nn/channel_blocks.hpp"

namespace convoke::nn {

/// A. Krizhevsky, I. Sutskever, G. Hinton, "ImageNet classification with deep convolutional neural networks",
/// NeurIPS 2012, with PyTorch's mean over the window instead of the sum.
struct LocalResponse {
  /// channels of a window: size / 2 before the channel, the others from the channel on
  std::int64_t size = 5;
  float alpha = 1e-4F, beta = 0.75F, k = 1;
};

/// y = x (k + alpha / size sum of x^2 over the window)^-beta. `scratch`: 3 x channels.
void local_response_norm_forward(const ChannelBlocks& shape, const LocalResponse& by, const float* x,
                                 float* scratch, float* y);
/// dx may be dy.
void local_response_norm_backward(const ChannelBlocks& shape, const LocalResponse& by, const float* x,
                                  const float* dy, float* scratch, float* dx);

}  // namespace convoke::nn
