#pragma once

namespace convoke::data {

/// Where in a source the pixels of an output come from. Coordinates are those of pixel centres, (0, 0) the
/// first:
///
///   source_y = yy y + yx x + y0,   source_x = xy y + xx x + x0
struct AffineMap {
  double yy = 1, yx = 0, y0 = 0;
  double xy = 0, xx = 1, x0 = 0;

  friend bool operator==(const AffineMap&, const AffineMap&) = default;
};

/// First `b`, from the output, then `a`, to the source: (a b)(p) = a(b(p)).
AffineMap operator*(const AffineMap& a, const AffineMap& b);

/// The linear part of `map` about the point (y, x), which stays where it is, before `map`'s own shift.
AffineMap about(const AffineMap& map, double y, double x);

/// What `apply_affine_transform` of Keras is given; the image is turned by theta about its centre, sheared,
/// zoomed (above 1: out) and shifted. In the order of Keras: rotation, shift, shear, zoom.
struct AffineTransform {
  double theta = 0;       ///< degrees, counter-clockwise as Keras turns
  double tx = 0, ty = 0;  ///< pixels along the columns and the rows: the source is that far right and down
  double shear = 0;       ///< degrees
  double zx = 1, zy = 1;  ///< of the columns and the rows
};

/// The map of a transform of an image of height x width pixels. Equal to Keras's, of which the centre is
/// right for square images only (it takes the height's half for the columns).
AffineMap affine_map(const AffineTransform& transform, double height, double width);

/// Output and source mirrored left to right, or top to bottom.
AffineMap horizontal_flip(double width);
AffineMap vertical_flip(double height);

/// A rectangle of a source, stretched over an output of height x width pixels (half-pixel centres, as
/// torchvision and Pillow resize).
struct Rectangle {
  double top = 0, left = 0, height = 0, width = 0;
};
AffineMap crop(const Rectangle& rectangle, double height, double width);

}  // namespace convoke::data
