#pragma once
// The tiles that are processed together, and their order.
#include <cstdint>

#include "nn/kernels/winograd/winograd.hpp"

namespace convoke::nn {
namespace {

constexpr int kPoints = 36;  // points of a tile of 4 x 4: point (a, b) has the number 6 a + b
constexpr int kClasses = 9;  // sizes 4, 3 and 2 along both axes

struct Tile {
  std::int64_t sample;
  std::int64_t row, column;  // position of its first output
  int size_class;            // 3 (4 - rows) + (4 - columns)
  int index;                 // number among the tiles of its class in the block
};

/// A block of tiles that are transformed, multiplied and transformed back while they are in the cache. At
/// each point, the tiles that have this point are neighbors, class by class, the largest first.
struct TileBlock {
  int count = 0;
  Tile tiles[kMostTiles];
  int of_class[kClasses];
  int first[kClasses][kPoints];  // first tile of a class at a point
  int rows[kPoints];             // number of tiles that have the point
};

constexpr int rows_of(int size_class) { return 4 - size_class / 3; }
constexpr int columns_of(int size_class) { return 4 - size_class % 3; }
constexpr bool has_point(int size_class, int point) {
  return point / 6 < rows_of(size_class) + 2 && point % 6 < columns_of(size_class) + 2;
}

/// Gathers at most `most` of a shape's tiles, from number `from`: sample by sample, row by row.
inline void gather(const WinogradShape& s, std::int64_t from, int most, TileBlock& block) {
  const TileAxis down(s.out_height), across(s.out_width);
  const std::int64_t per_sample = std::int64_t{down.count()} * across.count();
  const std::int64_t left = s.samples * per_sample - from;
  block.count = left < most ? static_cast<int>(left) : most;
  for (int& n : block.of_class) n = 0;
  for (int t = 0; t < block.count; ++t) {
    const std::int64_t number = from + t, within = number % per_sample;
    const auto i = static_cast<int>(within / across.count()), j = static_cast<int>(within % across.count());
    const int size_class = 3 * (4 - down.size(i)) + (4 - across.size(j));
    block.tiles[t] = {number / per_sample, down.start(i), across.start(j), size_class,
                      block.of_class[size_class]++};
  }
  for (int point = 0; point < kPoints; ++point) {
    int row = 0;
    for (int c = 0; c < kClasses; ++c) {
      block.first[c][point] = row;
      if (has_point(c, point)) row += block.of_class[c];
    }
    block.rows[point] = row;
  }
}

/// Calls f(integral constants rows, columns) for a tile's size.
template <int n>
struct Int {
  static constexpr int value = n;
};
template <class F>
[[gnu::always_inline]] inline void with_size(int size_class, const F& f) {
  switch (size_class) {
    case 0:
      return f(Int<4>{}, Int<4>{});
    case 1:
      return f(Int<4>{}, Int<3>{});
    case 2:
      return f(Int<4>{}, Int<2>{});
    case 3:
      return f(Int<3>{}, Int<4>{});
    case 4:
      return f(Int<3>{}, Int<3>{});
    case 5:
      return f(Int<3>{}, Int<2>{});
    case 6:
      return f(Int<2>{}, Int<4>{});
    case 7:
      return f(Int<2>{}, Int<3>{});
    default:
      return f(Int<2>{}, Int<2>{});
  }
}

// How many tiles ahead of the transforms memory is prefetched. Memory takes as long as a few tiles, and the
// lines of a tile are too far apart for the processor's own prefetcher. Measured on AMD EPYC, microseconds
// per image without and with: 32 -> 64 channels of 28 x 28, 32 samples: gradients 130, 92, forward 64, 51; 64
// -> 128 of 14 x 14: gradients 118, 89, forward 54, 47; 64 of 56 x 56, 16 samples: gradients 890, 703.
// Prefetching the lines that forward writes did not help.
constexpr int kAhead = 8;

/// Calls f(tile, rows, columns) for each tile of a block at vector `channel` of `channels`, with its size as
/// Int. Calls fetch(tile, channel) for the tile kAhead later, which may be at the next channel.
template <class Fetch, class F>
[[gnu::always_inline]] inline void for_each_tile(const TileBlock& block, std::int64_t channel,
                                                 std::int64_t channels, const Fetch& fetch, const F& f) {
  for (int t = 0; t < block.count; ++t) {
    const int ahead = t + kAhead;
    if (ahead < block.count) {
      fetch(block.tiles[ahead], channel);
    } else if (ahead - block.count < block.count && channel + 1 < channels) {
      fetch(block.tiles[ahead - block.count], channel + 1);
    }
    const Tile& tile = block.tiles[t];
    with_size(
        tile.size_class, [&](auto rows, auto columns)
                             __attribute__((always_inline)) { f(tile, rows, columns); });
  }
}

}  // namespace
}  // namespace convoke::nn
