#pragma once
// The transforms of all filters (K / block, C / block, 3, 3, block of C, block of K), and back. Transformed
// weights are stored in the order in which the products read them: [point][panel of output vectors][input
// channel][vector].
#include "convoke/core/non_temporal.hpp"
#include "nn/kernels/winograd/simd.hpp"
#include "nn/kernels/winograd/tiles.hpp"
#include "nn/kernels/winograd/transforms.hpp"

namespace convoke::nn {
namespace {

/// Writes the points of filters whose tap (a, b) is read(a, b) to `to`, `stride` apart.
template <class Read>
[[gnu::always_inline]] inline void filter_points(const Read& read, float* to, std::int64_t stride) {
  transform_axes<3, 3, 6, 6, transform_filter, transform_filter>(
      read, [&](int a, int b, Vec value)
                __attribute__((always_inline)) { store(to + (6 * a + b) * stride, value); });
}

/// Filters w, read by input channel c and vector k of output channels. If transposed, c and k are channels of
/// dy and dx.
struct Filters {
  const float* w;
  std::int64_t in_blocks;  // input blocks of w
  bool transposed;

  /// Transforms channels [c, c + channels) by vectors [k, k + vectors) to [point][channel][vector].
  void transform(std::int64_t c, std::int64_t channels, std::int64_t k, std::int64_t vectors, float* to,
                 std::int64_t stride) const {
    const std::int64_t line = vectors * kLanes;
    for (std::int64_t j = k; j < k + vectors; ++j, to += kLanes) {
      float* at = to;
      for (std::int64_t i = c; i < c + channels; i += kColumns, at += kColumns * line) {
        if (transposed) {
          const float* const from = w + (i / kLanes * in_blocks + j) * 9 * kLanes * kLanes + i % kLanes;
          Vec taps[9][kColumns];
          for (int tap = 0; tap < 9; ++tap) load_columns(from + tap * kLanes * kLanes, taps[tap]);
          for (int column = 0; column < kColumns; ++column)
            filter_points(
                [&](int a, int b) __attribute__((always_inline)) { return taps[3 * a + b][column]; },
                at + column * line, stride);
        } else {
          const float* from = w + ((j * in_blocks + i / kLanes) * 9 * kLanes + i % kLanes) * kLanes;
          for (int column = 0; column < kColumns; ++column, from += kLanes)
            filter_points(
                [&](int a, int b)
                    __attribute__((always_inline)) { return load(from + (3 * a + b) * kLanes * kLanes); },
                at + column * line, stride);
        }
      }
    }
  }
};

inline void transform_all(const Filters& filters, std::int64_t in_channels, std::int64_t out_channels,
                          bool shared, float* u) {
  constexpr std::int64_t kStride = (kColumns * kPanel + 1) * kLanes;  // of `aside`
  alignas(64) float aside[kPoints * kStride];
  const WinogradShape shape{.in_channels = in_channels, .out_channels = out_channels};
  const std::int64_t stride = shape.weight_stride(), blocks = out_channels / kLanes;
  for (std::int64_t k = 0; k < blocks; k += kPanel) {
    const std::int64_t vectors = Panel(blocks, k).vectors, floats = vectors * kLanes;
    if (!shared) filters.transform(0, in_channels, k, vectors, u, stride);
    for (std::int64_t c = 0; shared && c < in_channels; c += kColumns) {
      filters.transform(c, kColumns, k, vectors, aside, kStride);
      const auto run = static_cast<std::size_t>(kColumns * floats);
      for (std::int64_t point = 0; point < kPoints; ++point)
        copy_non_temporal({aside + point * kStride, run}, {u + point * stride + c * floats, run});
    }
    u += in_channels * floats;
  }
  if (shared) fence_non_temporal();
}

void transform_weights(std::int64_t in_channels, std::int64_t out_channels, const float* w, bool shared,
                       float* u) {
  transform_all({w, in_channels / kLanes, false}, in_channels, out_channels, shared, u);
}

void transform_weights_transposed(std::int64_t in_channels, std::int64_t out_channels, const float* w,
                                  bool shared, float* u) {
  transform_all({w, in_channels / kLanes, true}, out_channels, in_channels, shared, u);
}

/// A piece of the gradient of transformed weights: at most two vectors of input channels by a panel,
/// [point][channel][vector]. Each point takes one more line, as in PointValues.
constexpr std::int64_t kPieceBlocks = 2;
constexpr std::int64_t kPieceStride = (kPieceBlocks * kLanes * kPanel + 1) * kLanes;
constexpr std::int64_t kPieceFloats = kPoints * kPieceStride;

/// Computes the gradient of the filters of `channels` channels from block c, by `vectors` from vector k, from
/// their piece.
inline void transform_piece_back(const float* piece, std::int64_t in_blocks, std::int64_t c,
                                 std::int64_t channels, std::int64_t k, std::int64_t vectors, float* dw) {
  for (std::int64_t i = c * kLanes; i < c * kLanes + channels; ++i) {
    for (std::int64_t j = k; j < k + vectors; ++j, piece += kLanes) {
      float* const to = dw + ((j * in_blocks + i / kLanes) * 9 * kLanes + i % kLanes) * kLanes;
      transform_axes<6, 6, 3, 3, transform_filter_gradient, transform_filter_gradient>(
          [&](int a, int b)
              __attribute__((always_inline)) { return load(piece + (6 * a + b) * kPieceStride); },
          [&](int a, int b, Vec value)
              __attribute__((always_inline)) { store(to + (3 * a + b) * kLanes * kLanes, value); });
    }
  }
}

}  // namespace
}  // namespace convoke::nn
