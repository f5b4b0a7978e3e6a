#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "convoke/data/affine_map.hpp"

namespace convoke::data {

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

/// Does the same from pixels to pixels, rounded to the nearest: `out` is (height, width, C).
void warp(const ImageView<std::uint8_t>& image, const AffineMap& map, const Fill& fill, std::int64_t height,
          std::int64_t width, std::uint8_t* out);

}  // namespace convoke::data
