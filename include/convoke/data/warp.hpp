#pragma once
#include <cstdint>
#include <span>
#include <string_view>

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

/// The pixels beyond the edges of an image `abcd`, as in SciPy and Keras: nearest aaaa|abcd|dddd, constant
/// kkkk|abcd|kkkk (k = `value`), reflect dcba|abcd|dcba, wrap abc|abcd|bcd, whose first and last pixel are
/// the same point.
enum class FillMode { kNearest, kConstant, kReflect, kWrap };

/// Parses "nearest", "constant", "reflect" or "wrap". Throws Error listing them.
FillMode fill_mode_from(std::string_view name);
std::string_view name_of(FillMode mode);

struct Fill {
  FillMode mode = FillMode::kNearest;
  float value = 0;  ///< for kConstant, in units of the stored pixels

  friend bool operator==(const Fill&, const Fill&) = default;
};

/// A view of an image as it is stored, (H, W, C).
template <class T>
struct ImageView {
  const T* pixels = nullptr;
  std::int64_t height = 0, width = 0, channels = 0;
};

/// Converts a channel's value v when it is written: scale clamp(gain v, 0, highest) + shift; does not clamp
/// if `highest` is 0.
struct Tone {
  const float* scale = nullptr;  ///< one per channel
  const float* shift = nullptr;
  float gain = 1;
  float highest = 0;
};

/// Warps bilinearly: output pixel p is the image at map(p), interpolated between pixels. `out` is (C, height,
/// width) within a micro-batch; `tone` is applied. Reads only the bytes of the image and allocates no
/// memory. Maps by whole pixels (flips, shifts) are exact.
void warp(const ImageView<std::uint8_t>& image, const AffineMap& map, const Fill& fill, const Tone& tone,
          std::int64_t height, std::int64_t width, float* out);
void warp(const ImageView<float>& image, const AffineMap& map, const Fill& fill, const Tone& tone,
          std::int64_t height, std::int64_t width, float* out);

}  // namespace convoke::data
