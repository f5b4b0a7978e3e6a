#pragma once
#include <cstdint>

#include "convoke/core/random.hpp"
#include "nn/channel_blocks.hpp"
#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// y = x + standard deviation * z, where z is normal. Element e = pixel * C + channel of a sample uses number
/// e % 4 of the Philox counter (e / 4, stream, sample, repeat). By the method of Box and Muller, its words
/// w0, w1 and w2, w3 give r cos t and r sin t each: r = sqrt(-2 ln((w + 1) / 2^32)), t = 2 pi w / 2^32. The
/// result does not depend on layout, batch, rank or thread. `repeats`: of each sample; null: 0 each. y may be
/// x. T: float or Bf16.
template <class T>
void add_noise(const ChannelBlocks& shape, const T* x, double deviation, PhiloxKey key, std::uint32_t stream,
               const std::uint32_t* samples, const std::uint32_t* repeats, T* y);

}  // namespace convoke::nn
