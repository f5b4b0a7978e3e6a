#pragma once
#include <cstdint>

#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// A depthwise convolution: every channel has its own kernel. Tensors are stored in blocks of B = 16 or 8
/// channels, oneDNN's nChw16c and nChw8c: x (N, G, H, W, B) and y (N, G, H', W', B) with G = C / B, rounded
/// up. A convolution of images with one channel is one whose channels of x are the same: x (N, H, W).
struct DepthwiseShape {
  std::int64_t samples, blocks, block;                ///< N, G, B
  std::int64_t height, width, out_height, out_width;  ///< H, W, H', W'
  std::int64_t kernel_height, kernel_width;           ///< KH, KW
  std::int64_t stride_height, stride_width;
  std::int64_t dilation_height, dilation_width;  ///< 1: none
  std::int64_t pad_top, pad_left;
  bool one_channel = false;  ///< x has one channel

  /// Returns the channels that are neighbors in x.
  [[gnu::always_inline]] std::int64_t x_block() const { return one_channel ? 1 : block; }

  static constexpr std::int64_t kMaxTaps = 49;
  /// pixels of a row of x that are converted at a time: 6 KiB
  static constexpr std::int64_t kRowPixels = 96;
  bool supported() const {
    return (block == 16 || block == 8) && kernel_height * kernel_width <= kMaxTaps &&
           (kernel_width - 1) * dilation_width < kRowPixels;
  }
};

template <class T>
struct DepthwiseKernels {
  /// Computes dweight (G, KH, KW, B), oneDNN's Goihw16g and Goihw8g, and dbias (G, B), which may be null: d
  /// loss / d weight and bias from x and dy = d loss / d y. Used for shapes without a oneDNN kernel (5 x 5,
  /// dilated), where oneDNN's matrix products of one column each are a hundred times slower, and for one
  /// channel with AVX2, where a product with its reorders takes 2.6 times as long.
  void (*backward_weights)(const DepthwiseShape& shape, const T* x, const T* dy, float* dweight,
                           float* dbias);
};

}  // namespace convoke::nn
