#pragma once
#include <cstdint>
#include <span>

#include "convoke/pictures/image.hpp"

namespace convoke::data_prep {

using pictures::Box;
using pictures::Image;
using pictures::PictureSize;

/// Resizes the part `box` of the image to `size`, each axis separately:
/// - Reduces (or keeps) by the mean over the area that an output pixel covers, with fractions of pixels
///   (Pillow's BOX if sizes divide; OpenCV's INTER_AREA). This is antialiased and keeps duplicated pixels.
/// - Enlarges by Keys's cubic convolution, a = -1/2 (Pillow's BICUBIC), which reads beyond the box but not
///   beyond the image.
/// Writes (height, width, C) bytes to `out`, rows `stride` bytes apart, rounded to the nearest. The box must
/// lie within the image and have an area. Reads only the rows that it needs.
void resize(const Image& image, const Box& box, const PictureSize& size, std::uint8_t* out,
            std::int64_t stride);

/// Resizes the whole picture.
Image resize(const Image& image, const PictureSize& size);

}  // namespace convoke::data_prep
