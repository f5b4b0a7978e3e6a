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

}  // namespace convoke::nn
