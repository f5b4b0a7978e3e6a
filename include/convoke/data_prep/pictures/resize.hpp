#pragma once
#include <cstdint>
#include <span>

#include "convoke/data_prep/pictures/image.hpp"

namespace convoke::data_prep {

/// The part `box` of the image resized to `size`, each axis by itself:
/// - reduced (or kept) by the mean over the area that an output pixel covers, parts of pixels counted as such
///   (where sizes divide, Pillow's BOX; OpenCV's INTER_AREA): antialiased, and what is there twice stays;
/// - enlarged by Keys's cubic convolution, a = -1/2 (Pillow's BICUBIC), which looks beyond the box, not the
///   image.
/// Writes (height, width, C) bytes to `out`, rows `stride` bytes apart; rounded to the nearest. The box must
/// lie within the image and have an area. Reads the rows that it needs and no others.
void resize(const Image& image, const Box& box, const Extent& size, std::uint8_t* out, std::int64_t stride);

/// The whole picture.
Image resize(const Image& image, const Extent& size);

}  // namespace convoke::data_prep
