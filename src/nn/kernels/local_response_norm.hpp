#pragma once
#include "nn/channel_blocks.hpp"

namespace convoke::nn {

/// By A. Krizhevsky, I. Sutskever, G. Hinton, "ImageNet classification with deep convolutional neural
/// networks", NeurIPS 2012, with PyTorch's mean over the window in place of the sum.
struct LocalResponse {
  std::int64_t size = 5;  ///< channels of a window: size / 2 before, the rest from the channel itself on
  float alpha = 1e-4F, beta = 0.75F, k = 1;
};

/// y = x (k + alpha / size sum of x^2 over the window)^-beta. `scratch`: 3 x channels.
void local_response_norm_forward(const ChannelBlocks& shape, const LocalResponse& by, const float* x,
                                 float* scratch, float* y);
/// dx may be dy.
void local_response_norm_backward(const ChannelBlocks& shape, const LocalResponse& by, const float* x,
                                  const float* dy, float* scratch, float* dx);

}  // namespace convoke::nn
