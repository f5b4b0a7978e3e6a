#include "convoke/data/affine_map.hpp"

#include <cmath>
#include <numbers>

namespace convoke::data {

AffineMap operator*(const AffineMap& a, const AffineMap& b) {
  return {.yy = a.yy * b.yy + a.yx * b.xy,
          .yx = a.yy * b.yx + a.yx * b.xx,
          .y0 = a.yy * b.y0 + a.yx * b.x0 + a.y0,
          .xy = a.xy * b.yy + a.xx * b.xy,
          .xx = a.xy * b.yx + a.xx * b.xx,
          .x0 = a.xy * b.y0 + a.xx * b.x0 + a.x0};
}

//   p -> c + M (p - c) + shift
AffineMap about(const AffineMap& map, double y, double x) {
  AffineMap moved = map;
  moved.y0 += y - (map.yy * y + map.yx * x);
  moved.x0 += x - (map.xy * y + map.xx * x);
  return moved;
}

// Keras multiplies, in coordinates (x, y, 1):
//
//   | cos -sin 0 |   | 1 0 tx |   | 1 -sin s 0 |   | zx  0 0 |
//   | sin  cos 0 | . | 0 1 ty | . | 0  cos s 0 | . |  0 zy 0 |
//   |  0    0  1 |   | 0 0 1  |   | 0    0   1 |   |  0  0 1 |
AffineMap affine_map(const AffineTransform& transform, double height, double width) {
  constexpr double kDegree = std::numbers::pi / 180;
  const double cos = std::cos(transform.theta * kDegree), sin = std::sin(transform.theta * kDegree);
  const double slant = std::sin(transform.shear * kDegree), shrink = std::cos(transform.shear * kDegree);
  const AffineMap rotation{.yy = cos, .yx = sin, .xy = -sin, .xx = cos};
  const AffineMap shift{.y0 = transform.ty, .x0 = transform.tx};
  const AffineMap shear{.yy = shrink, .xy = -slant};
  const AffineMap zoom{.yy = transform.zy, .xx = transform.zx};
  return about(rotation * shift * shear * zoom, height / 2 - 0.5, width / 2 - 0.5);
}

AffineMap horizontal_flip(double width) { return {.xx = -1, .x0 = width - 1}; }
AffineMap vertical_flip(double height) { return {.yy = -1, .y0 = height - 1}; }

//   source = start + (p + 1/2) size / extent - 1/2
AffineMap crop(const Rectangle& rectangle, double height, double width) {
  const double y = rectangle.height / height, x = rectangle.width / width;
  return {.yy = y, .y0 = rectangle.top + y / 2 - 0.5, .xx = x, .x0 = rectangle.left + x / 2 - 0.5};
}

}  // namespace convoke::data
