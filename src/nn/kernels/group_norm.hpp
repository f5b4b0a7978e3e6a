#pragma once
#include "nn/channel_blocks.hpp"
#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

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

/// y = gamma (x - mean) * scale + beta; gamma, beta: padded channels.
void group_norm_forward(const GroupNormShape& shape, const float* x, const float* gamma, const float* beta,
                        float epsilon, const GroupNormMemory& memory, float* y);
void group_norm_forward(const GroupNormShape& shape, const Bf16* x, const float* gamma, const float* beta,
                        float epsilon, const GroupNormMemory& memory, Bf16* y);

/// Computes dx (may be dy), d gamma and d beta (padded channels, overwritten).
void group_norm_backward(const GroupNormShape& shape, const float* x, const float* dy, const float* gamma,
                         const GroupNormMemory& memory, float* dx, float* dgamma, float* dbeta);
void group_norm_backward(const GroupNormShape& shape, const Bf16* x, const Bf16* dy, const float* gamma,
                         const GroupNormMemory& memory, Bf16* dx, float* dgamma, float* dbeta);

}  // namespace convoke::nn
