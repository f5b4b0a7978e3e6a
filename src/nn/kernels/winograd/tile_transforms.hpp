#pragma once
// The transforms of a tile in both directions, between images and points.
#include "nn/kernels/winograd/panels.hpp"
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

/// Computes the points of the input of `rows` x `columns` outputs; read(a, b) returns pixel (a, b) of the
/// tile.
template <int rows, int columns, class Read>
[[gnu::always_inline]] inline void input_points(const Read& read, const Points& points) {
  transform_axes<rows + 2, columns + 2, rows + 2, columns + 2, Transform<rows>::input,
                 Transform<columns>::input>(
      read, [&](int a, int b, Vec value) __attribute__((always_inline)) { store(points(6 * a + b), value); });
}

/// A plane of pixels, kLanes channels each, with zeroes around it. With a gate, only pixels with a positive
/// gate count.
template <class T>
struct Plane {
  const T* pixels;
  const T* gate;
  std::int64_t height, width;
};

template <bool gated, class T>
[[gnu::always_inline]] inline Vec pixel(const Plane<T>& plane, std::int64_t at) {
  const Vec value = load(plane.pixels + at);
  if constexpr (gated) return where_positive(load(plane.gate + at), value);
  return value;
}

template <int rows, int columns, class T>
[[gnu::always_inline]] inline void transform_input(const Plane<T>& plane, std::int64_t top, std::int64_t left,
                                                   const Points& points) {
  const std::int64_t corner = (top * plane.width + left) * kLanes;
  if (top >= 0 && left >= 0 && top + rows + 2 <= plane.height && left + columns + 2 <= plane.width) {
    input_points<rows, columns>(
        [&](int a, int b) __attribute__((always_inline)) {
          return load(plane.pixels + corner + (a * plane.width + b) * kLanes);
        },
        points);
    return;
  }
  input_points<rows, columns>(
      [&](int a, int b) __attribute__((always_inline)) {
        const bool inside = top + a >= 0 && top + a < plane.height && left + b >= 0 && left + b < plane.width;
        return inside ? load(plane.pixels + corner + (a * plane.width + b) * kLanes) : zero();
      },
      points);
}

/// Computes the points of the gradient of a tile's outputs, and adds the gradient to a sum.
template <int rows, int columns, bool gated, class T>
[[gnu::always_inline]] inline void transform_gradient(const Plane<T>& plane, std::int64_t top,
                                                      std::int64_t left, const Points& points, Vec& sum) {
  Vec total = zero();
  transform_axes<rows, columns, rows + 2, columns + 2, Transform<rows>::gradient,
                 Transform<columns>::gradient>(
      [&](int a, int b) __attribute__((always_inline)) {
        const bool inside = top + a < plane.height && left + b < plane.width;
        const Vec value =
            inside ? pixel<gated>(plane, ((top + a) * plane.width + left + b) * kLanes) : zero();
        total += value;
        return value;
      },
      [&](int a, int b, Vec value) __attribute__((always_inline)) { store(points(6 * a + b), value); });
  sum += total;
}

/// Computes a tile's outputs from its points, with bias and ReLU.
template <int rows, int columns, class T>
[[gnu::always_inline]] inline void transform_output(const Points& points, Vec bias, bool rectified,
                                                    std::int64_t height, std::int64_t width, std::int64_t top,
                                                    std::int64_t left, T* plane) {
  // The points are stored by row, so the transform of rows comes first: a and b are swapped.
  transform_axes<columns + 2, rows + 2, columns, rows, Transform<columns>::output, Transform<rows>::output>(
      [&](int b, int a) __attribute__((always_inline)) { return load(points(6 * a + b)); },
      [&](int b, int a, Vec y) __attribute__((always_inline)) {
        if (top + a >= height || left + b >= width) return;
        const Vec value = y + bias;
        store(plane + ((top + a) * width + left + b) * kLanes, rectified ? relu(value) : value);
      });
}

/// Adds the gradient of a tile's inputs, from its points. Tiles above and to the left have already written
/// the pixels that they share with it; all other pixels are written for the first time. In bf16, a pixel of
/// several tiles is rounded after each.
template <int rows, int columns, class T>
[[gnu::always_inline]] inline void spread_points(const Points& points, const WinogradShape& s,
                                                 const Tile& tile, T* plane) {
  const std::int64_t top = tile.row - s.top, left = tile.column - s.left;
  T* const corner = plane + (top * s.in_width + left) * kLanes;
  const auto spread = [&](const auto& write) __attribute__((always_inline)) {
    transform_axes<columns + 2, rows + 2, columns + 2, rows + 2, Transform<columns>::spread,
                   Transform<rows>::spread>(
        [&](int b, int a) __attribute__((always_inline)) { return load(points(6 * a + b)); },
        [&](int b, int a, Vec value)
            __attribute__((always_inline)) { write(a, b, corner + (a * s.in_width + b) * kLanes, value); });
  };
  const bool inside =
      top >= 0 && left >= 0 && top + rows + 2 <= s.in_height && left + columns + 2 <= s.in_width;
  if (inside && tile.row > 0 && tile.column > 0) {
    spread([&](int a, int b, T* at, Vec value)
               __attribute__((always_inline)) { store(at, a < 2 || b < 2 ? load(at) + value : value); });
    return;
  }
  spread([&](int a, int b, T* at, Vec value) __attribute__((always_inline)) {
    if (top + a < 0 || top + a >= s.in_height || left + b < 0 || left + b >= s.in_width) return;
    const bool shared = (a < 2 && tile.row > 0) || (b < 2 && tile.column > 0);
    store(at, shared ? load(at) + value : value);
  });
}

}  // namespace
}  // namespace convoke::nn
