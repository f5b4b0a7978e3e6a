#pragma once
// The transforms of all filters (K / block, C / block, 3, 3, block of C, block of K), and back. Transformed
// weights lie as the products read them: [point][panel of output vectors][input channel][vector].
#include "nn/kernels/winograd/panels.hpp"
#include "nn/kernels/winograd/tiles.hpp"
#include "nn/kernels/winograd/transforms.hpp"

namespace convoke::nn {
namespace {

/// The points of filters whose tap (a, b) is read(a, b): to `to`, `stride` apart.
template <class Read>
[[gnu::always_inline]] inline void filter_points(const Read& read, float* to, std::int64_t stride) {
  Vec half[6][3];
#pragma GCC unroll 3
  for (int b = 0; b < 3; ++b) {
    Vec g[3], points[6];
#pragma GCC unroll 3
    for (int a = 0; a < 3; ++a) g[a] = read(a, b);
    transform_filter(g, points);
#pragma GCC unroll 6
    for (int a = 0; a < 6; ++a) half[a][b] = points[a];
  }
#pragma GCC unroll 6
  for (int a = 0; a < 6; ++a) {
    Vec points[6];
    transform_filter(half[a], points);
#pragma GCC unroll 6
    for (int b = 0; b < 6; ++b) store(to + (6 * a + b) * stride, points[b]);
  }
}

/// Filters w, and how their input channel c and vector k of output channels are read; transposed, those of dy
/// and of dx.
struct Filters {
  const float* w;
  std::int64_t in_blocks;  // of w
  bool transposed;

  /// Points of channels [c, c + channels) by vectors [k, k + vectors): [point][channel][vector].
  void transform(std::int64_t c, std::int64_t channels, std::int64_t k, std::int64_t vectors, float* to,
                 std::int64_t stride) const {
    for (std::int64_t j = k; j < k + vectors; ++j, to += kLanes) {
      float* at = to;
      for (std::int64_t i = c; i < c + channels; ++i, at += vectors * kLanes) {
        if (transposed) {
          const float* const from = w + (i / kLanes * in_blocks + j) * 9 * kLanes * kLanes + i % kLanes;
          filter_points(
              [&](int a, int b) __attribute__((always_inline)) {
                return load_strided(from + (3 * a + b) * kLanes * kLanes, kLanes);
              },
              at, stride);
        } else {
          const float* const from = w + ((j * in_blocks + i / kLanes) * 9 * kLanes + i % kLanes) * kLanes;
          filter_points(
              [&](int a, int b)
                  __attribute__((always_inline)) { return load(from + (3 * a + b) * kLanes * kLanes); },
              at, stride);
        }
      }
    }
  }
};

inline void transform_all(const Filters& filters, std::int64_t in_channels, std::int64_t out_channels,
                          float* u) {
  const std::int64_t stride = in_channels * out_channels, blocks = out_channels / kLanes;
  for (std::int64_t k = 0; k < blocks; k += kPanel) {
    const std::int64_t vectors = Panel(blocks, k).vectors;
    filters.transform(0, in_channels, k, vectors, u, stride);
    u += in_channels * vectors * kLanes;
  }
}

void transform_weights(std::int64_t in_channels, std::int64_t out_channels, const float* w, float* u) {
  transform_all({w, in_channels / kLanes, false}, in_channels, out_channels, u);
}

void transform_weights_transposed(std::int64_t in_channels, std::int64_t out_channels, const float* w,
                                  float* u) {
  transform_all({w, in_channels / kLanes, true}, out_channels, in_channels, u);
}

/// A piece of the gradient of transformed weights: two vectors of input channels by a panel, or what is left
/// of either, [point][channel][vector]. A line more for each point, as in PointValues.
constexpr std::int64_t kPieceBlocks = 2;
constexpr std::int64_t kPieceStride = (kPieceBlocks * kLanes * kPanel + 1) * kLanes;
constexpr std::int64_t kPieceFloats = kPoints * kPieceStride;

/// The gradient of the filters of `channels` channels from block c on, by `vectors` from k on, from their
/// piece.
inline void transform_piece_back(const float* piece, std::int64_t in_blocks, std::int64_t c,
                                 std::int64_t channels, std::int64_t k, std::int64_t vectors, float* dw) {
  for (std::int64_t i = c * kLanes; i < c * kLanes + channels; ++i) {
    for (std::int64_t j = k; j < k + vectors; ++j, piece += kLanes) {
      Vec half[3][6];
#pragma GCC unroll 6
      for (int b = 0; b < 6; ++b) {
        Vec points[6], g[3];
#pragma GCC unroll 6
        for (int a = 0; a < 6; ++a) points[a] = load(piece + (6 * a + b) * kPieceStride);
        transform_filter_gradient(points, g);
#pragma GCC unroll 3
        for (int a = 0; a < 3; ++a) half[a][b] = g[a];
      }
      float* const to = dw + ((j * in_blocks + i / kLanes) * 9 * kLanes + i % kLanes) * kLanes;
#pragma GCC unroll 3
      for (int a = 0; a < 3; ++a) {
        Vec g[3];
        transform_filter_gradient(half[a], g);
#pragma GCC unroll 3
        for (int b = 0; b < 3; ++b) store(to + (3 * a + b) * kLanes * kLanes, g[b]);
      }
    }
  }
}

}  // namespace
}  // namespace convoke::nn
