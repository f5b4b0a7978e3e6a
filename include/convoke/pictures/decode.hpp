#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoke/pictures/image.hpp"

namespace convoke::pictures {

/// A picture with a longer side, or with too many pixels, is refused before it is decoded; Pillow refuses it
/// at the same limit as a decompression bomb.
inline constexpr std::int64_t kLongestSide = 20'000;
inline constexpr std::int64_t kMostPixels = 2 * 89'478'485;

/// The properties of an encoded picture.
struct PictureShape {
  PictureSize extent = {};    ///< upright
  std::int64_t channels = 0;  ///< 1: gray, 3: color; alpha is not counted
};

/// Throws Error if the picture `name` is not a JPEG, PNG or BMP, is truncated, or is too large.
PictureShape picture_shape(std::span<const std::byte> encoded, const std::string& name);

/// Decodes a JPEG, PNG or BMP to 1 (gray) or 3 (RGB) channels as Pillow's convert does, upright by EXIF.
/// Takes the upper 8 of 16 bits, for gray too (Pillow clamps gray at 255, which leaves white). If libjpeg is
/// built in, a JPEG may be reduced by 2, 4 or 8 while it stays at least as large as `enough`. Throws Error
/// naming the picture and the reason: not a picture, truncated, damaged, too large.
Image decode_picture(std::span<const std::byte> encoded, const std::string& name, std::int64_t channels,
                     const PictureSize& enough = {kLongestSide, kLongestSide});

/// Reads the bytes of a file. Throws Error if it is missing, a folder, or larger than 2 GiB.
std::vector<std::byte> read_encoded(const std::filesystem::path& file);

}  // namespace convoke::pictures
