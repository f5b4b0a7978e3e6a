#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "convoke/pictures/image.hpp"
#include "pictures/header.hpp"

namespace convoke::pictures {

/// Decodes a JPEG with libjpeg to the stored colors: gray, RGB or inverted CMYK (as Adobe stores it).
/// Reduces it to 1/1, 1/2, 1/4 or 1/8: the smallest size that is at least `enough` in both directions. A
/// pixel of a reduced picture comes from the lower frequencies of a block (about the mean of its pixels); the
/// others are not computed. Throws Error if the program was built without libjpeg or the JPEG is damaged:
/// truncated or with invalid codes. Superfluous bytes between segments are skipped, as in Pillow.
Image decode_jpeg(std::span<const std::uint8_t> encoded, const PictureHeader& header,
                  const PictureSize& enough, const std::string& name);

/// False if built without libjpeg; then stb_image decodes JPEGs.
bool has_libjpeg();

}  // namespace convoke::pictures
