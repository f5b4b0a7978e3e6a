#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoke/data_prep/pictures/image.hpp"

namespace convoke::data_prep {

/// A picture of a longer side is refused before it is decoded, and so is one of more pixels: where Pillow
/// suspects a decompression bomb and gives up.
inline constexpr std::int64_t kLongestSide = 20'000;
inline constexpr std::int64_t kMostPixels = 2 * 89'478'485;

/// What an encoded picture says of itself.
struct PictureShape {
  Extent extent = {};         ///< upright
  std::int64_t channels = 0;  ///< 1: grey, 3: colour; alpha is not counted
};

/// Throws Error: `name` is no JPEG, PNG or BMP, is cut short, or too large.
PictureShape picture_shape(std::span<const std::byte> encoded, const std::string& name);

/// Decodes a JPEG, PNG or BMP to 1 (grey) or 3 (RGB) channels as Pillow's convert does, upright by EXIF. Of
/// 16 bits the upper 8 are taken, grey included (Pillow cuts grey off at 255, which leaves white). A JPEG may
/// come out smaller by 2, 4 or 8, its content yet not smaller than `enough`, if libjpeg is built in. Throws
/// Error naming the picture and the reason: no picture, truncated, damaged, too large.
Image decode_picture(std::span<const std::byte> encoded, const std::string& name, std::int64_t channels,
                     const Extent& enough = {kLongestSide, kLongestSide});

/// The bytes of a file. Throws Error: missing, a folder, larger than 2 GiB.
std::vector<std::byte> read_encoded(const std::filesystem::path& file);

}  // namespace convoke::data_prep
