#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "convoke/data_prep/pictures/image.hpp"
#include "pictures/header.hpp"

namespace convoke::data_prep {

/// Decodes a JPEG with libjpeg into what it stores, grey, RGB or inverted CMYK (as Adobe stores it), at 1/1,
/// 1/2, 1/4 or 1/8 of its size: the smallest that is not below `enough` in either direction. Each pixel of a
/// reduced one is made of the lower frequencies of a block, about the mean of its pixels, without the others
/// being computed. Throws Error if the program was built without libjpeg or the JPEG is damaged: truncated or
/// with codes that are none. What is superfluous between segments is passed over, as Pillow does.
Image decode_jpeg(std::span<const std::uint8_t> encoded, const PictureHeader& header, const Extent& enough,
                  const std::string& name);

/// False: built without libjpeg; stb_image decodes JPEGs.
bool has_libjpeg();

}  // namespace convoke::data_prep
