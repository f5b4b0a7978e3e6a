#pragma once
#include <cstdint>

#include "nn/channel_blocks.hpp"
#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// y[:, i * groups + g] = x[:, g * C / groups + i], both in the layout `blocks`; padding becomes 0. The
/// inverse has C / groups groups.
void channel_shuffle(const ChannelBlocks& blocks, std::int64_t groups, const float* x, float* y);
void channel_shuffle(const ChannelBlocks& blocks, std::int64_t groups, const Bf16* x, Bf16* y);

}  // namespace convoke::nn
