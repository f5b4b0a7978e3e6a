#pragma once
#include <cstdint>

#include "nn/channel_blocks.hpp"
#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// The winner of a window in which ReLU gave 0.
inline constexpr std::int32_t kNoWinner = -1;

struct MaxPoolShape {
  ChannelBlocks in;
  std::int64_t out_height, out_width;
  std::int64_t height, width;  ///< size of the window
  std::int64_t stride_height, stride_width;
  std::int64_t before_height, before_width;  ///< padding, which never wins
};

/// Windows of unequal size that cover the image: output o of n sees floor(o H / n) <= h < ceil((o + 1) H /
/// n).
struct AdaptiveShape {
  ChannelBlocks in;
  std::int64_t out_height, out_width;
};

template <class T>
struct MaxPoolKernels {
  /// y[o] = max over the window of x; with `relu`, max(that, 0). `winners` (shape of y, may be null): the
  /// winning pixel of the window, the first among equals; kNoWinner where ReLU gave 0.
  void (*forward)(const MaxPoolShape& shape, const T* x, T* y, std::int32_t* winners, bool relu);

  /// dx[winner of o] += dy[o]. Writes all of dx.
  void (*backward)(const MaxPoolShape& shape, const T* dy, const std::int32_t* winners, T* dx);

  /// The same for AdaptiveShape. `winners` (shape of y, may be null): the winning pixel of the image;
  /// kNoWinner if all are NaN.
  void (*adaptive_forward)(const AdaptiveShape& shape, const T* x, T* y, std::int32_t* winners);
  void (*adaptive_backward)(const AdaptiveShape& shape, const T* dy, const std::int32_t* winners, T* dx);
};

/// A 3 x 3 convolution (stride 1, no padding) of few plain channels and the 2 x 2 max pooling of its result,
/// in one pass. The value in between, the largest tensor of a small network, stays in registers: in forward
/// the convolution's output, in backward its gradient, three quarters of which are zeros.
struct Conv2dMaxPoolShape {
  std::int64_t samples, channels, height, width;  ///< shape of x: plain (N, C, H, W)
  std::int64_t filters;                           ///< F, a multiple of 16
  std::int64_t out_height, out_width;             ///< shape of y: (N, F / 16, H', W', 16), oneDNN's nChw16c
};

template <class T>
struct Conv2dMaxPoolKernels {
  /// y = max over 2 x 2 of (x * weight + bias); with `relu`, max(that, 0). `weight`: (3, 3, C, F). `bias`:
  /// (F), may be null. `winners` (shape of y, may be null): the winning pixel of the window, 0 to 3, the
  /// first among equals; kNoWinner where ReLU gave 0.
  void (*forward)(const Conv2dMaxPoolShape& shape, const float* x, const float* weight, const float* bias,
                  T* y, std::int32_t* winners, bool relu);

  /// Computes dweight, (3, 3, C, F), and dbias, (F), which may be null: d loss / d weight and bias from dy =
  /// d loss / d y.
  void (*backward)(const Conv2dMaxPoolShape& shape, const float* x, const T* dy, const std::int32_t* winners,
                   float* dweight, float* dbias);
};

}  // namespace convoke::nn
