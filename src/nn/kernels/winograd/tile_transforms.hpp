#pragma once
// The transforms of a tile in both directions, between images and points.
#include "nn/kernels/winograd/simd.hpp"
#include "nn/kernels/winograd/tiles.hpp"
#include "nn/kernels/winograd/transforms.hpp"

namespace convoke::nn {
namespace {

/// The place of a tile's points, with `step` floats between tiles.
struct Points {
  float* at;
  std::int64_t stride, step;
  const int* first;  // first tile of its class, by point
  int index;
  [[gnu::always_inline]] float* operator()(int point) const {
    return at + point * stride + (first[point] + index) * step;
  }
};

/// `blocks` vectors of channels of up to `most` tiles at each point.
struct PointValues {
  float* at;
  std::int64_t blocks;
  std::int64_t most;

  // One line more than the tiles take, so that the points of a tile do not map to the same sets of the cache.
  std::int64_t stride() const { return (blocks * most + 1) * kLanes; }
  float* point(int number) const { return at + number * stride(); }
  float* end() const { return point(kPoints); }
  std::int64_t floats() const { return kPoints * stride(); }

  /// As rows, [channel vector][tile], for products whose rows are tiles.
  Points rows(const TileBlock& block, const Tile& tile, std::int64_t channel) const {
    return {at + channel * most * kLanes, stride(), kLanes, block.first[tile.size_class], tile.index};
  }
  /// As panels, [panel][tile][channel vector], for sums over tiles.
  Points panels(const TileBlock& block, const Tile& tile, std::int64_t channel) const {
    const Panel panel(blocks, channel);
    return {at + (panel.first * most + channel - panel.first) * kLanes, stride(), panel.vectors * kLanes,
            block.first[tile.size_class], tile.index};
  }
};

/// A plane of pixels, kLanes channels each.
template <class T>
struct Plane {
  T* pixels;
  std::int64_t height, width;
};

/// Where a tile reads or writes its pixels: in a plane or, if it extends beyond the plane, in a copy.
template <class T>
struct Window {
  T* corner;
  std::int64_t width;
  [[gnu::always_inline]] T* operator()(int a, int b) const { return corner + (a * width + b) * kLanes; }
};

/// The copy of a tile's pixels.
template <class T>
struct alignas(64) Copy {
  T pixels[kPoints * kLanes];
  Window<T> window() { return {pixels, 6}; }
};

constexpr int clamp(std::int64_t value, int most) {
  return value < 0 ? 0 : value < most ? static_cast<int>(value) : most;
}

/// rows x columns pixels from (top, left) of a plane. Those inside the plane are [begin_row, end_row) x
/// [begin_column, end_column).
template <class T>
struct Region {
  Region(const Plane<T>& plane, std::int64_t top, std::int64_t left, int tall, int wide)
      : window{plane.pixels + (top * plane.width + left) * kLanes, plane.width},
        rows(tall),
        columns(wide),
        begin_row(clamp(-top, rows)),
        end_row(clamp(plane.height - top, rows)),
        begin_column(clamp(-left, columns)),
        end_column(clamp(plane.width - left, columns)) {}

  bool inside() const {
    return begin_row == 0 && end_row == rows && begin_column == 0 && end_column == columns;
  }

  Window<T> window;
  int rows, columns, begin_row, end_row, begin_column, end_column;
};

/// Returns where a region can be read: in the plane or, with zeroes outside it, in the copy.
template <class T>
[[gnu::noinline]] Window<const T> copy_padded(const Region<const T>& from, Copy<T>& copy) {
  const Window<T> to = copy.window();
  for (int a = 0; a < from.rows; ++a) {
    const int end = a >= from.begin_row && a < from.end_row ? from.end_column : 0;
    int b = 0;
    for (; b < from.begin_column; ++b) store(to(a, b), zero());
    for (; b < end; ++b) store(to(a, b), load(from.window(a, b)));
    for (; b < from.columns; ++b) store(to(a, b), zero());
  }
  return {to.corner, to.width};
}
template <class T>
[[gnu::always_inline]] inline Window<const T> readable(const Region<const T>& region, Copy<T>& copy) {
  return region.inside() ? region.window : copy_padded(region, copy);
}

/// Writes the pixels of a copy that lie inside the plane.
template <class T>
[[gnu::noinline]] void copy_out(Copy<T>& copy, const Region<T>& to) {
  const Window<T> from = copy.window();
  for (int a = to.begin_row; a < to.end_row; ++a) {
    for (int b = to.begin_column; b < to.end_column; ++b) store(to.window(a, b), load(from(a, b)));
  }
}

/// Computes the points of the input of `rows` x `columns` outputs.
template <int rows, int columns, class T>
[[gnu::always_inline]] inline void transform_input(const Plane<const T>& plane, std::int64_t top,
                                                   std::int64_t left, const Points& points) {
  Copy<T> copy;
  const Window<const T> x = readable<T>({plane, top, left, rows + 2, columns + 2}, copy);
  transform_axes<rows + 2, columns + 2, rows + 2, columns + 2, Transform<rows>::input,
                 Transform<columns>::input>(
      [&](int a, int b) __attribute__((always_inline)) { return load(x(a, b)); },
      [&](int a, int b, Vec value) __attribute__((always_inline)) { store(points(6 * a + b), value); });
}

/// Computes the points of the gradient of a tile's outputs, and adds the gradient to a sum. If gated, only
/// pixels with a positive gate count.
template <int rows, int columns, bool gated, class T>
[[gnu::always_inline]] inline void transform_gradient(const Plane<const T>& plane, const T* gate,
                                                      std::int64_t top, std::int64_t left,
                                                      const Points& points, Vec& sum) {
  Copy<T> copy, gate_copy;
  const Window<const T> dy = readable<T>({plane, top, left, rows, columns}, copy);
  Window<const T> y{};
  if constexpr (gated) y = readable({{gate, plane.height, plane.width}, top, left, rows, columns}, gate_copy);
  Vec total = zero();
  transform_axes<rows, columns, rows + 2, columns + 2, Transform<rows>::gradient,
                 Transform<columns>::gradient>(
      [&](int a, int b) __attribute__((always_inline)) {
        Vec value = load(dy(a, b));
        if constexpr (gated) value = where_positive(load(y(a, b)), value);
        total += value;
        return value;
      },
      [&](int a, int b, Vec value) __attribute__((always_inline)) { store(points(6 * a + b), value); });
  sum += total;
}

/// Computes a tile's outputs from its points, with bias and ReLU.
template <int rows, int columns, class T>
[[gnu::always_inline]] inline void transform_output(const Points& points, Vec bias, bool rectified,
                                                    const Plane<T>& plane, std::int64_t top,
                                                    std::int64_t left) {
  Copy<T> copy;
  const Region<T> region{plane, top, left, rows, columns};
  const bool inside = region.inside();
  const Window<T> to = inside ? region.window : copy.window();
  // The points are stored by row, so the transform of rows comes first: a and b are swapped.
  transform_axes<columns + 2, rows + 2, columns, rows, Transform<columns>::output, Transform<rows>::output>(
      [&](int b, int a) __attribute__((always_inline)) { return load(points(6 * a + b)); },
      [&](int b, int a, Vec y) __attribute__((always_inline)) {
        const Vec value = y + bias;
        store(to(a, b), rectified ? relu(value) : value);
      });
  if (!inside) copy_out(copy, region);
}

/// Adds a copy to what earlier tiles have written to the first two rows and columns of a tile. All other
/// pixels are written for the first time.
template <class T>
[[gnu::noinline]] void add_out(Copy<float>& copy, const Region<T>& to, const Tile& tile) {
  const Window<float> from = copy.window();
  for (int a = to.begin_row; a < to.end_row; ++a) {
    const int shared = a < 2 && tile.row > 0 ? to.columns : tile.column > 0 ? 2 : 0;
    for (int b = to.begin_column; b < to.end_column; ++b) {
      const Vec value = load(from(a, b));
      store(to.window(a, b), b < shared ? load(to.window(a, b)) + value : value);
    }
  }
}

/// Adds the gradient of a tile's inputs, from its points. In bf16, a pixel of several tiles is rounded after
/// each. Only tiles of 4 x 4 inside the plane are added directly: others are few, and each size takes as long
/// to compile.
template <int rows, int columns, class T>
[[gnu::always_inline]] inline void spread_points(const Points& points, const WinogradShape& s,
                                                 const Tile& tile, T* pixels) {
  const Region<T> region{
      {pixels, s.in_height, s.in_width}, tile.row - s.top, tile.column - s.left, rows + 2, columns + 2};
  const auto spread = [&](const auto& write) __attribute__((always_inline)) {
    transform_axes<columns + 2, rows + 2, columns + 2, rows + 2, Transform<columns>::spread,
                   Transform<rows>::spread>(
        [&](int b, int a) __attribute__((always_inline)) { return load(points(6 * a + b)); },
        [&](int b, int a, Vec value) __attribute__((always_inline)) { write(a, b, value); });
  };
  if constexpr (rows == 4 && columns == 4) {
    if (region.inside() && tile.row > 0 && tile.column > 0) {
      spread([&](int a, int b, Vec value) __attribute__((always_inline)) {
        T* const at = region.window(a, b);
        store(at, a < 2 || b < 2 ? load(at) + value : value);
      });
      return;
    }
  }
  Copy<float> copy;
  const Window<float> to = copy.window();
  spread([&](int a, int b, Vec value) __attribute__((always_inline)) { store(to(a, b), value); });
  add_out(copy, region, tile);
}

}  // namespace
}  // namespace convoke::nn
