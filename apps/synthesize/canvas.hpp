#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/core/random.hpp"
#include "convoke/pictures/image.hpp"

// Tools to paint synthetic pictures: anti-aliased shapes by their signed distance, and textures.
namespace convoke::data_prep {

using pictures::Image;

/// A point in units of the canvas: the origin is in the middle, y points down, the shorter side reaches from
/// -1 to 1.
struct Point {
  double x = 0, y = 0;

  friend Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
  friend Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
  friend Point operator*(double factor, Point a) { return {factor * a.x, factor * a.y}; }
};
inline double dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
inline double length(Point a) { return std::sqrt(dot(a, a)); }
/// Returns `a`, turned by `angle` (radians) about the origin.
Point rotated(Point a, double angle);
inline Point polar(double radius, double angle) { return rotated({radius, 0}, angle); }

/// Red, green and blue, 0 to 1.
struct Color {
  float red = 0, green = 0, blue = 0;

  friend Color operator+(Color a, Color b) { return {a.red + b.red, a.green + b.green, a.blue + b.blue}; }
  friend Color operator*(double factor, Color a) {
    const auto f = static_cast<float>(factor);
    return {f * a.red, f * a.green, f * a.blue};
  }
};
/// Returns (1 - t) a + t b.
inline Color mix(Color a, Color b, double t) { return (1 - t) * a + t * b; }
/// Returns the color with hue, saturation and value, each 0 to 1.
Color hsv(double hue, double saturation, double value);

/// Returns 0 below `begin`, 1 above `end`, and a smooth step between.
inline double ramp(double value, double begin, double end) {
  const double t = std::clamp((value - begin) / (end - begin), 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

/// Uniform in begin..end.
inline double between(RandomStream& random, double begin, double end) {
  return begin + (end - begin) * random.uniform();
}
/// Uniform whole number in first..last.
inline int whole_between(RandomStream& random, int first, int last) {
  return first + static_cast<int>(random.below(static_cast<std::uint64_t>(last - first + 1)));
}

/// Fractal noise about 0, mostly within -1 to 1: Perlin noise with `octaves`, the first of them `scale` wide.
class Texture {
 public:
  Texture(RandomStream& random, double scale, int octaves);
  double at(Point p) const;

 private:
  double scale_;
  int octaves_;
  Point offset_;
  double slice_;
};

/// The coverage of each pixel by the union of shapes, 0 to 1.
class Mask {
 public:
  Mask(int height, int width) : height_(height), width_(width), coverage_(size(), 0.0F) {}

  /// Adds the region with negative distance(Point). Its edge is blurred over `softness`, at least a pixel.
  /// Only the square of half side `reach` about `middle` is computed.
  template <class Distance>
  void add(Point middle, double reach, double softness, Distance distance);

  void add_disc(Point middle, double radius, double softness = 0);
  /// Adds an ellipse with half axes along and across `angle`.
  void add_ellipse(Point middle, double along, double across, double angle, double softness = 0);
  /// Adds the line through `points` whose width falls linearly from `begin` to `end`.
  void add_stroke(std::span<const Point> points, double begin, double end, double softness = 0);

  /// Limits the mask to the coverage of `other`.
  void limit(const Mask& other);

  float at(int row, int column) const { return coverage_[index(row, column)]; }
  /// Returns the coverage of the pixel at `p`; 0 outside the canvas.
  float at(Point p) const;
  /// Width of a pixel.
  double pixel() const { return 2.0 / std::min(height_, width_); }
  Point point(int row, int column) const {
    return {(column + 0.5 - 0.5 * width_) * pixel(), (row + 0.5 - 0.5 * height_) * pixel()};
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(height_) * static_cast<std::size_t>(width_); }
  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(column);
  }
  int height_, width_;
  std::vector<float> coverage_;
};

/// A picture that is being painted.
class Canvas {
 public:
  Canvas(std::int64_t height, std::int64_t width);

  Mask mask() const { return {height_, width_}; }
  double pixel() const { return 2.0 / std::min(height_, width_); }
  /// Half of the longer and of the shorter side.
  Point half() const { return {width_ * pixel() / 2, height_ * pixel() / 2}; }

  /// Sets every pixel to shade(its point, its color).
  template <class Shade>
  void shade(Shade shade);
  /// Does the same where `mask` covers the pixel, in proportion to the coverage times `opacity`.
  template <class Shade>
  void shade(const Mask& mask, double opacity, Shade shade);
  void paint(const Mask& mask, Color color, double opacity = 1) {
    shade(mask, opacity, [color](Point, Color) { return color; });
  }
  /// Imitates a camera: blurs over `blur` pixels, and adds noise of `noise` (of 1) to each channel.
  void photograph(RandomStream& random, double blur, double noise);

  Image image() const;

 private:
  int height_, width_;
  std::vector<Color> colors_;
};

template <class Distance>
void Mask::add(Point middle, double reach, double softness, Distance distance) {
  const double soft = std::max(softness, pixel());
  const double span = reach + soft;
  const auto first = [&](double at, int count) {
    return std::clamp(static_cast<int>(std::floor((at - span) / pixel() + 0.5 * count)), 0, count);
  };
  const auto last = [&](double at, int count) {
    return std::clamp(static_cast<int>(std::ceil((at + span) / pixel() + 0.5 * count)), 0, count);
  };
  for (int row = first(middle.y, height_); row < last(middle.y, height_); ++row) {
    for (int column = first(middle.x, width_); column < last(middle.x, width_); ++column) {
      float& covered = coverage_[index(row, column)];
      const double share = ramp(-distance(point(row, column)) / soft, -0.5, 0.5);
      covered = std::max(covered, static_cast<float>(share));
    }
  }
}

template <class Shade>
void Canvas::shade(Shade shade) {
  const Mask places(height_, width_);
  auto color = colors_.begin();
  for (int row = 0; row < height_; ++row) {
    for (int column = 0; column < width_; ++column, ++color)
      *color = shade(places.point(row, column), *color);
  }
}

template <class Shade>
void Canvas::shade(const Mask& mask, double opacity, Shade shade) {
  auto color = colors_.begin();
  for (int row = 0; row < height_; ++row) {
    for (int column = 0; column < width_; ++column, ++color) {
      const double covered = opacity * mask.at(row, column);
      if (covered > 0) *color = mix(*color, shade(mask.point(row, column), *color), covered);
    }
  }
}

}  // namespace convoke::data_prep
