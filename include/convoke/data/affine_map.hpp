#pragma once

namespace convoke::data {

/// Maps the pixels of an output to their places in a source. Coordinates are those of pixel centers; the
/// first pixel is (0, 0):
///
///   source_y = yy y + yx x + y0,   source_x = xy y + xx x + x0
struct AffineMap {
  double yy = 1, yx = 0, y0 = 0;
  double xy = 0, xx = 1, x0 = 0;

  friend bool operator==(const AffineMap&, const AffineMap&) = default;
};

/// Applies `b`, from the output, and then `a`, to the source: (a b)(p) = a(b(p)).
AffineMap operator*(const AffineMap& a, const AffineMap& b);

/// Applies the linear part of `map` about the point (y, x), which stays in place, and then the shift of
/// `map`.
AffineMap about(const AffineMap& map, double y, double x);

/// Arguments of Keras's `apply_affine_transform`: the image is turned by theta about its center, sheared,
/// zoomed (above 1: out) and shifted. Keras composes in the order rotation, shift, shear, zoom.
struct AffineTransform {
  double theta = 0;       ///< degrees; positive turns counter-clockwise, as in Keras
  double tx = 0, ty = 0;  ///< pixels along the columns and the rows: the source lies that far right and down
  double shear = 0;       ///< degrees
  double zx = 1, zy = 1;  ///< factors along the columns and the rows
};

/// Returns the map of a transform of an image of height x width pixels. It equals Keras's map for square
/// images; for others, Keras computes a wrong center (it takes half the height for the columns).
AffineMap affine_map(const AffineTransform& transform, double height, double width);

/// Mirror the source left to right, or top to bottom.
AffineMap horizontal_flip(double width);
AffineMap vertical_flip(double height);

/// A rectangle of a source that is stretched over an output of height x width pixels (half-pixel centers, as
/// torchvision and Pillow resize).
struct Rectangle {
  double top = 0, left = 0, height = 0, width = 0;
};
AffineMap crop(const Rectangle& rectangle, double height, double width);

}  // namespace convoke::data
