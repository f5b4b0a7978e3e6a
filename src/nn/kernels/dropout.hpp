#pragma once
#include <cstdint>

#include "convoke/core/random.hpp"
#include "nn/channel_blocks.hpp"
#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

template <class T>
struct DropoutKernels {
  /// y = keep ? x / (1 - rate) : 0. Element e = pixel * C + channel of a sample uses word e / 16 % 4 of the
  /// Philox counter (e / 64 * 16 + e % 16, stream, sample, repeat), so that 16 neighboring counters serve 64
  /// elements. `repeats`: of each sample; null: 0 each. The result does not depend on layout, batch, rank or
  /// thread. keep (one byte per element, in the order of x) is written for backward.
  void (*forward)(const ChannelBlocks& shape, const T* x, double rate, PhiloxKey key, std::uint32_t stream,
                  const std::uint32_t* samples, const std::uint32_t* repeats, T* y, std::uint8_t* keep);

  /// dx = keep ? dy / (1 - rate) : 0; n elements; dx may be dy.
  void (*backward)(const T* dy, const std::uint8_t* keep, double rate, T* dx, std::size_t n);
};

}  // namespace convoke::nn
