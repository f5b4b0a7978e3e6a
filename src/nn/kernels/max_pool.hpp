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

/// y[o] = max over the window of x; with `relu`, max(that, 0). `winners` (shape of y, may be null): the
/// winning pixel of the window, the first among equals; kNoWinner where ReLU gave 0.
void max_pool_forward(const MaxPoolShape& shape, const float* x, float* y, std::int32_t* winners, bool relu);
void max_pool_forward(const MaxPoolShape& shape, const Bf16* x, Bf16* y, std::int32_t* winners, bool relu);

/// dx[winner of o] += dy[o]. Writes all of dx.
void max_pool_backward(const MaxPoolShape& shape, const float* dy, const std::int32_t* winners, float* dx);
void max_pool_backward(const MaxPoolShape& shape, const Bf16* dy, const std::int32_t* winners, Bf16* dx);

/// Windows of unequal size that cover the image: output o of n sees floor(o H / n) <= h < ceil((o + 1) H /
/// n).
struct AdaptiveShape {
  ChannelBlocks in;
  std::int64_t out_height, out_width;
};
/// `winners` (shape of y, may be null): the winning pixel of the image; kNoWinner if all are NaN.
void adaptive_max_pool_forward(const AdaptiveShape& shape, const float* x, float* y, std::int32_t* winners);
void adaptive_max_pool_forward(const AdaptiveShape& shape, const Bf16* x, Bf16* y, std::int32_t* winners);
void adaptive_max_pool_backward(const AdaptiveShape& shape, const float* dy, const std::int32_t* winners,
                                float* dx);
void adaptive_max_pool_backward(const AdaptiveShape& shape, const Bf16* dy, const std::int32_t* winners,
                                Bf16* dx);

}  // namespace convoke::nn
