#pragma once
// The products at each point: tiles by channels, with panels of weights or of gradients.
#include <cstdint>

#include "nn/kernels/winograd/filters.hpp"
#include "nn/kernels/winograd/tile_transforms.hpp"

namespace convoke::nn {
namespace {

// The number of rows that leaves registers for a panel and a broadcast.
constexpr int max_rows(int vectors) {
  if (kLanes == 16) return vectors == 4 ? 6 : vectors == 3 ? 8 : 12;
  return vectors == 2 ? 6 : 12;
}

/// The values of tiles at one point: [vector of channels][tile], with the vectors `stride` tiles apart, or
/// with `width` > 1 neighboring vectors [panel][tile][vector].
template <int width>
struct Rows {
  const float* values;
  std::int64_t stride;
  const float* vector(std::int64_t channel) const {
    return values + (channel / width * width * stride + channel % width) * kLanes;
  }
};

/// out (n x vectors) = or += rows (n x channels) * panel (channels x vectors).
template <int n, int vectors, int width>
[[gnu::always_inline]] inline void multiply(const Rows<width>& in, const float* panel, std::int64_t blocks,
                                            float* out, std::int64_t out_stride, bool add) {
  Vec sum[n][vectors];
#pragma GCC unroll 12
  for (int i = 0; i < n; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < vectors; ++j) sum[i][j] = add ? load(out + (j * out_stride + i) * kLanes) : zero();
  }
  for (std::int64_t block = 0; block < blocks; ++block) {
    const float* const row = in.vector(block);
    for (int c = 0; c < kLanes; ++c, panel += vectors * kLanes) {
      Vec u[vectors];
#pragma GCC unroll 4
      for (int j = 0; j < vectors; ++j) u[j] = load(panel + j * kLanes);
#pragma GCC unroll 12
      for (int i = 0; i < n; ++i) {
        const Vec v = all(row[i * width * kLanes + c]);
#pragma GCC unroll 4
        for (int j = 0; j < vectors; ++j) sum[i][j] = fma(v, u[j], sum[i][j]);
      }
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < n; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < vectors; ++j) store(out + (j * out_stride + i) * kLanes, sum[i][j]);
  }
}

/// Calls f(Int<n>) for n in 1 ... most.
template <int most, class F>
[[gnu::always_inline]] inline void with_count(int n, const F& f) {
  if constexpr (most > 1) {
    if (n < most) return with_count<most - 1>(n, f);
  }
  f(Int<most>{});
}

/// Multiplies any number of rows, in groups of at most max_rows() rows, as even as possible.
template <int vectors, int width>
inline void multiply_rows(Rows<width> in, const float* panel, std::int64_t blocks, int rows, float* out,
                          std::int64_t out_stride, bool add) {
  constexpr int kMost = max_rows(vectors);
  int groups = (rows + kMost - 1) / kMost;
  for (; rows > 0; --groups) {
    const int n = rows / groups + (rows % groups != 0 ? 1 : 0);
    with_count<kMost>(
        n, [&](auto count) __attribute__((always_inline)) {
          multiply<decltype(count)::value, vectors, width>(in, panel, blocks, out, out_stride, add);
        });
    in.values += n * width * kLanes;
    out += n * kLanes;
    rows -= n;
  }
}

// Vectors of input channels whose panel stays in the first-level cache.
constexpr std::int64_t kDepth = 128 / kLanes;

/// out = in * u at one point. `in` is stored as rows or, with `width` = kPanel, as full panels; `out` as
/// rows. Uses all panels of u, in their order in memory.
template <int width>
inline void multiply_point(const PointValues& in, const float* u, const PointValues& out, int point,
                           int rows) {
  for (std::int64_t k = 0; k < out.blocks; k += kPanel) {
    const Panel panel(out.blocks, k);
    float* const to = out.point(point) + k * out.most * kLanes;
    for (std::int64_t c = 0; c < in.blocks; c += kDepth) {
      const std::int64_t depth = in.blocks - c < kDepth ? in.blocks - c : kDepth;
      const Rows<width> part{in.point(point) + c * in.most * kLanes, in.most};
      with_count<kPanel>(
          static_cast<int>(panel.vectors), [&](auto count) __attribute__((always_inline)) {
            multiply_rows<decltype(count)::value, width>(part, u, depth, rows, to, out.most, c > 0);
          });
      u += depth * kLanes * panel.vectors * kLanes;
    }
  }
}

// Output vectors of a piece of weights: with kDepth vectors of input channels, at all points, it stays in the
// second-level cache.
constexpr std::int64_t kPieceVectors = 2;
constexpr std::int64_t kWeightPieceStride = (kDepth * kLanes * kPieceVectors + 1) * kLanes;

/// The same at all points, with filters that are transformed piece by piece: if transformed weights exceed
/// the cache, the filters are much less to read. `piece`: kPoints * kWeightPieceStride floats.
inline void multiply_filters(const PointValues& in, const Filters& filters, const PointValues& out,
                             const TileBlock& block, float* piece) {
  for (std::int64_t k = 0; k < out.blocks; k += kPieceVectors) {
    const std::int64_t vectors = out.blocks - k < kPieceVectors ? out.blocks - k : kPieceVectors;
    for (std::int64_t c = 0; c < in.blocks; c += kDepth) {
      const std::int64_t depth = in.blocks - c < kDepth ? in.blocks - c : kDepth;
      filters.transform(c * kLanes, depth * kLanes, k, vectors, piece, kWeightPieceStride);
      with_count<kPieceVectors>(
          static_cast<int>(vectors), [&](auto count) __attribute__((always_inline)) {
            for (int point = 0; point < kPoints; ++point) {
              multiply_rows<decltype(count)::value, 1>(
                  {in.point(point) + c * in.most * kLanes, in.most}, piece + point * kWeightPieceStride,
                  depth, block.rows[point], out.point(point) + k * out.most * kLanes, out.most, c > 0);
            }
          });
    }
  }
}

/// out (n channels x vectors) = or += sum over rows of x^T dy. x: Rows at channel c; dy: [row][vectors].
template <int n, int vectors>
[[gnu::always_inline]] inline void accumulate(const float* x, const float* dy, int rows, float* out,
                                              bool add) {
  Vec sum[n][vectors];
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < vectors; ++j) sum[i][j] = add ? load(out + (i * vectors + j) * kLanes) : zero();
  }
  for (int t = 0; t < rows; ++t, x += kLanes, dy += vectors * kLanes) {
    Vec d[vectors];
#pragma GCC unroll 4
    for (int j = 0; j < vectors; ++j) d[j] = load(dy + j * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) {
      const Vec v = all(x[i]);
#pragma GCC unroll 4
      for (int j = 0; j < vectors; ++j) sum[i][j] = fma(v, d[j], sum[i][j]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < vectors; ++j) store(out + (i * vectors + j) * kLanes, sum[i][j]);
  }
}

constexpr int max_channels(int vectors) {
  if (kLanes == 16) return vectors == 4 ? 4 : vectors == 1 ? 16 : 8;
  return vectors == 2 ? 4 : 8;
}

/// piece = or += the sums over tiles of x^T dy at all points, for `blocks` vectors of channels of x from c,
/// stored as rows, and the panel of vector k of dy, stored as panels.
inline void accumulate_piece(const PointValues& x, std::int64_t c, std::int64_t blocks, const PointValues& dy,
                             std::int64_t k, const TileBlock& block, float* piece, bool add) {
  with_count<kPanel>(
      static_cast<int>(Panel(dy.blocks, k).vectors), [&](auto count) __attribute__((always_inline)) {
        constexpr int kVectors = decltype(count)::value, kChannels = max_channels(kVectors);
        for (int point = 0; point < kPoints; ++point) {
          const float* const panel = dy.point(point) + k * dy.most * kLanes;
          float* out = piece + point * kPieceStride;
          for (std::int64_t b = c; b < c + blocks; ++b) {
            const float* const values = x.point(point) + b * x.most * kLanes;
            for (int i = 0; i < kLanes; i += kChannels, out += kChannels * kVectors * kLanes)
              accumulate<kChannels, kVectors>(values + i, panel, block.rows[point], out, add);
          }
        }
      });
}

}  // namespace
}  // namespace convoke::nn
