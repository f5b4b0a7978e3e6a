#pragma once
#include <cstddef>
#include <cstdint>

#include "nn/channel_blocks.hpp"
#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

// Element-wise functions of n elements. The result may overwrite an input.

/// y = factor * x
void scale(const float* x, float factor, float* y, std::size_t n);
void scale(const Bf16* x, float factor, Bf16* y, std::size_t n);

/// y = sum of `count` inputs / count
void average(const float* const* inputs, std::size_t count, float* y, std::size_t n);
void average(const Bf16* const* inputs, std::size_t count, Bf16* y, std::size_t n);

/// y = largest of `count` <= 255 inputs, NaN if one is NaN. `winners` (may be null): the first of the
/// largest.
void maximum(const float* const* inputs, std::size_t count, float* y, std::uint8_t* winners, std::size_t n);
void maximum(const Bf16* const* inputs, std::size_t count, Bf16* y, std::uint8_t* winners, std::size_t n);

/// dx = winner == input ? dy : 0
void maximum_backward(const float* dy, const std::uint8_t* winners, std::uint8_t input, float* dx,
                      std::size_t n);
void maximum_backward(const Bf16* dy, const std::uint8_t* winners, std::uint8_t input, Bf16* dx,
                      std::size_t n);

/// y = a b
void multiply(const float* a, const float* b, float* y, std::size_t n);
void multiply(const Bf16* a, const Bf16* b, Bf16* y, std::size_t n);

/// y[n, c, p] = x[n, c, p] s[n, c]. s: (N, padded channels), blocked as x, with one pixel.
void multiply_channels(const ChannelBlocks& blocks, const float* x, const float* s, float* y);
void multiply_channels(const ChannelBlocks& blocks, const Bf16* x, const Bf16* s, Bf16* y);

/// dx = dy s and ds[n, c] = sum_p dy x, summed in fp32; either may be null; dx may be dy.
void multiply_channels_backward(const ChannelBlocks& blocks, const float* x, const float* s, const float* dy,
                                float* dx, float* ds);
void multiply_channels_backward(const ChannelBlocks& blocks, const Bf16* x, const Bf16* s, const Bf16* dy,
                                Bf16* dx, Bf16* ds);

}  // namespace convoke::nn
