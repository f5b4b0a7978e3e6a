#pragma once
#include <cstddef>
#include <cstdint>

#include "nn/channel_blocks.hpp"
#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

template <class T>
struct ElementwiseKernels {
  /// sum = a + b, or max(a + b, 0) with `relu`; n elements; sum may be a or b.
  void (*add)(const T* a, const T* b, T* sum, std::size_t n, bool relu);

  /// dx = y > 0 ? dy : 0; n elements; dx may be dy.
  void (*relu_backward)(const T* y, const T* dy, T* dx, std::size_t n);
};

/// Element-wise functions of n elements. The result may overwrite an input.
template <class T>
struct MergeKernels {
  /// y = factor * x
  void (*scale)(const T* x, float factor, T* y, std::size_t n);

  /// y = sum of `count` inputs / count
  void (*average)(const T* const* inputs, std::size_t count, T* y, std::size_t n);

  /// y = largest of `count` <= 255 inputs, NaN if one is NaN. `winners` (may be null): the first of the
  /// largest.
  void (*maximum)(const T* const* inputs, std::size_t count, T* y, std::uint8_t* winners, std::size_t n);

  /// dx = winner == input ? dy : 0
  void (*maximum_backward)(const T* dy, const std::uint8_t* winners, std::uint8_t input, T* dx,
                           std::size_t n);

  /// y = a b
  void (*multiply)(const T* a, const T* b, T* y, std::size_t n);

  /// y[n, c, p] = x[n, c, p] s[n, c]. s: (N, padded channels), blocked as x, with one pixel.
  void (*multiply_channels)(const ChannelBlocks& blocks, const T* x, const T* s, T* y);

  /// dx = dy s and ds[n, c] = sum_p dy x, summed in fp32; either may be null; dx may be dy.
  void (*multiply_channels_backward)(const ChannelBlocks& blocks, const T* x, const T* s, const T* dy, T* dx,
                                     T* ds);
};

}  // namespace convoke::nn
