#pragma once
// The passes of winograd.hpp for the instruction set for which the including file is compiled. Each block of
// tiles is transformed, multiplied and transformed back.
#include "nn/kernels/winograd/filters.hpp"
#include "nn/kernels/winograd/products.hpp"
#include "nn/kernels/winograd/tile_transforms.hpp"

namespace convoke::nn {
namespace {

/// Returns the offset of channel vector `channel` of `blocks` in a sample.
inline std::int64_t plane_of(std::int64_t sample, std::int64_t blocks, std::int64_t channel,
                             std::int64_t height, std::int64_t width) {
  return (sample * blocks + channel) * height * width * kLanes;
}

/// Prefetches the 4 x 4 pixels from (row, column), to be read or written. Some may lie outside the plane: a
/// prefetch never fails.
template <bool write, class T>
[[gnu::always_inline]] inline void fetch_pixels(const T* plane, std::int64_t width, std::int64_t row,
                                                std::int64_t column) {
  const T* const corner = plane + (row * width + column) * kLanes;
#pragma GCC unroll 4
  for (int a = 0; a < 4; ++a) {
#pragma GCC unroll 4
    for (int b = 0; b < 4; ++b) __builtin_prefetch(corner + (a * width + b) * kLanes, write ? 1 : 0);
  }
}

/// Computes the points of a block's x, as rows.
template <class T>
void transform_inputs(const WinogradShape& s, const TileBlock& block, const T* x, const PointValues& points) {
  for (std::int64_t c = 0; c < points.blocks; ++c) {
    for_each_tile(
        block, c, points.blocks,
        [&](const Tile& tile, std::int64_t channel) __attribute__((always_inline)) {
          // The previous tiles contain two rows and columns of the 6 x 6 pixels.
          fetch_pixels<false>(x + plane_of(tile.sample, points.blocks, channel, s.in_height, s.in_width),
                              s.in_width, tile.row - s.top + 2, tile.column - s.left + 2);
        },
        [&](const Tile& tile, auto rows, auto columns) __attribute__((always_inline)) {
          const Plane<const T> plane{x + plane_of(tile.sample, points.blocks, c, s.in_height, s.in_width),
                                     s.in_height, s.in_width};
          transform_input<decltype(rows)::value, decltype(columns)::value>(
              plane, tile.row - s.top, tile.column - s.left, points.rows(block, tile, c));
        });
  }
}

/// Computes the points of a block's dy, as rows or as panels. Adds the sums of dy to `sums` (out channels),
/// if not null.
template <bool gated, class T>
void transform_gradients(const WinogradShape& s, const TileBlock& block, const T* dy, const T* gate,
                         bool panels, const PointValues& points, float* sums) {
  for (std::int64_t k = 0; k < points.blocks; ++k) {
    Vec sum = zero();
    for_each_tile(
        block, k, points.blocks,
        [&](const Tile& tile, std::int64_t channel) __attribute__((always_inline)) {
          const std::int64_t at = plane_of(tile.sample, points.blocks, channel, s.out_height, s.out_width);
          fetch_pixels<false>(dy + at, s.out_width, tile.row, tile.column);
          if (gated) fetch_pixels<false>(gate + at, s.out_width, tile.row, tile.column);
        },
        [&](const Tile& tile, auto rows, auto columns) __attribute__((always_inline)) {
          const std::int64_t at = plane_of(tile.sample, points.blocks, k, s.out_height, s.out_width);
          transform_gradient<decltype(rows)::value, decltype(columns)::value, gated>(
              Plane<const T>{dy + at, s.out_height, s.out_width}, gated ? gate + at : nullptr, tile.row,
              tile.column, panels ? points.panels(block, tile, k) : points.rows(block, tile, k), sum);
        });
    if (sums != nullptr) store(sums + k * kLanes, load(sums + k * kLanes) + sum);
  }
}

template <class T>
void transform_gradients(const WinogradShape& s, const TileBlock& block, const T* dy, const T* gate,
                         bool panels, const PointValues& points, float* sums) {
  if (gate == nullptr) {
    transform_gradients<false, T>(s, block, dy, nullptr, panels, points, sums);
  } else {
    transform_gradients<true>(s, block, dy, gate, panels, points, sums);
  }
}

inline std::int64_t scratch_floats(const WinogradShape& s) {
  const std::int64_t most = s.tiles_per_block();
  return PointValues{nullptr, s.in_channels / kLanes, most}.floats() +
         PointValues{nullptr, s.out_channels / kLanes, most}.floats() +
         (s.by_pieces() ? kPoints * kWeightPieceStride : 0);
}

inline std::int64_t gradient_scratch_floats(const WinogradShape& s) {
  const std::int64_t most = s.gradient_tiles_per_block();
  const std::int64_t in_blocks = s.in_channels / kLanes, out_blocks = s.out_channels / kLanes;
  const std::int64_t pieces = most >= s.tiles() ? 1
                                                : (in_blocks + kPieceBlocks - 1) / kPieceBlocks *
                                                      ((out_blocks + kPanel - 1) / kPanel);
  return PointValues{nullptr, in_blocks, most}.floats() + PointValues{nullptr, out_blocks, most}.floats() +
         pieces * kPieceFloats;
}

/// out = in * U, or in * U^T, at all points. `weights`: U or U^T, or the filters themselves.
inline void multiply_weights(const WinogradShape& s, const PointValues& in, const float* weights,
                             bool transposed, const PointValues& out, const TileBlock& block) {
  if (s.by_pieces()) {
    return multiply_filters(in, {weights, s.in_channels / kLanes, transposed}, out, block, out.end());
  }
  for (int point = 0; point < kPoints; ++point) {
    multiply_point<1>(in, weights + point * s.weight_stride(), out, point, block.rows[point]);
  }
}

template <class T>
void forward(const WinogradShape& s, const T* x, const float* weights, const float* bias, bool rectified,
             T* y, float* scratch) {
  const auto most = static_cast<int>(s.tiles_per_block());
  const PointValues in{scratch, s.in_channels / kLanes, most};
  const PointValues out{in.end(), s.out_channels / kLanes, most};
  TileBlock block;
  for (std::int64_t from = 0; from < s.tiles(); from += most) {
    gather(s, from, most, block);
    transform_inputs(s, block, x, in);
    multiply_weights(s, in, weights, false, out, block);
    for (std::int64_t k = 0; k < out.blocks; ++k) {
      const Vec b = bias == nullptr ? zero() : load(bias + k * kLanes);
      for_each_tile(
          block, k, out.blocks, [](const Tile&, std::int64_t) {},  // no reads to prefetch
          [&](const Tile& tile, auto rows, auto columns) __attribute__((always_inline)) {
            T* const plane = y + plane_of(tile.sample, out.blocks, k, s.out_height, s.out_width);
            transform_output<decltype(rows)::value, decltype(columns)::value>(
                out.rows(block, tile, k), b, rectified, Plane<T>{plane, s.out_height, s.out_width}, tile.row,
                tile.column);
          });
    }
  }
}

/// Adds dx up from the points of a block's inputs.
template <class T>
void spread_block(const WinogradShape& s, const TileBlock& block, const PointValues& points, T* dx) {
  for (std::int64_t c = 0; c < points.blocks; ++c) {
    for_each_tile(
        block, c, points.blocks,
        [&](const Tile& tile, std::int64_t channel) __attribute__((always_inline)) {
          fetch_pixels<true>(dx + plane_of(tile.sample, points.blocks, channel, s.in_height, s.in_width),
                             s.in_width, tile.row - s.top + 2, tile.column - s.left + 2);
        },
        [&](const Tile& tile, auto rows, auto columns) __attribute__((always_inline)) {
          spread_points<decltype(rows)::value, decltype(columns)::value>(
              points.rows(block, tile, c), s, tile,
              dx + plane_of(tile.sample, points.blocks, c, s.in_height, s.in_width));
        });
  }
}

template <class T>
void data_gradient(const WinogradShape& s, const T* dy, const T* gate, const float* weights, T* dx,
                   float* scratch) {
  const auto most = static_cast<int>(s.tiles_per_block());
  const PointValues in{scratch, s.out_channels / kLanes, most};
  const PointValues out{in.end(), s.in_channels / kLanes, most};
  TileBlock block;
  for (std::int64_t from = 0; from < s.tiles(); from += most) {
    gather(s, from, most, block);
    transform_gradients(s, block, dy, gate, false, in, nullptr);
    multiply_weights(s, in, weights, true, out, block);
    spread_block(s, block, out, dx);
  }
}

bool joins_gradients(const WinogradShape& s) {
  return !s.by_pieces() && s.out_channels % (kPanel * kLanes) == 0;
}

template <class T>
void weight_gradient(const WinogradShape& s, const T* x, const T* dy, const T* gate, float* dw, float* dbias,
                     const float* weights, T* dx, float* scratch) {
  const auto most = static_cast<int>(s.gradient_tiles_per_block());
  const PointValues in{scratch, s.in_channels / kLanes, most};
  const PointValues out{in.end(), s.out_channels / kLanes, most};
  for (std::int64_t k = 0; dbias != nullptr && k < s.out_channels; k += kLanes) store(dbias + k, zero());
  TileBlock block;
  for (std::int64_t from = 0; from < s.tiles(); from += most) {
    const bool first = from == 0, last = from + most >= s.tiles();
    gather(s, from, most, block);
    transform_inputs(s, block, x, in);
    transform_gradients(s, block, dy, gate, true, out, dbias);
    // With a single block, each piece is transformed back at once, and the next one reuses its memory.
    float* piece = out.end();
    for (std::int64_t k = 0; k < out.blocks; k += kPanel) {
      for (std::int64_t c = 0; c < in.blocks; c += kPieceBlocks) {
        const std::int64_t blocks = in.blocks - c < kPieceBlocks ? in.blocks - c : kPieceBlocks;
        accumulate_piece(in, c, blocks, out, k, block, piece, !first);
        if (last)
          transform_piece_back(piece, in.blocks, c, blocks * kLanes, k, Panel(out.blocks, k).vectors, dw);
        if (!first || !last) piece += kPieceFloats;
      }
    }
    if (dx == nullptr) continue;
    const PointValues& data = in;  // x is not needed any more
    for (int point = 0; point < kPoints; ++point)
      multiply_point<kPanel>(out, weights + point * s.weight_stride(), data, point, block.rows[point]);
    spread_block(s, block, data, dx);
  }
}

}  // namespace
}  // namespace convoke::nn
