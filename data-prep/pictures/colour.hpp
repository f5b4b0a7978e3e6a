#pragma once
#include <cstdint>

#include "convoke/data_prep/pictures/image.hpp"

namespace convoke::data_prep {

/// To 1 (grey) or 3 (RGB) channels as Pillow's convert does: alpha, the last of 2 or 4, is dropped; a grey
/// value becomes R, G and B; L = (19595 R + 38470 G + 7471 B + 2^15) / 2^16.
Image to_channels(Image image, std::int64_t channels);

/// CMYK as Adobe's JPEGs hold it, inverted (255: no ink), to RGB as Pillow does: R = C K / 255.
Image rgb_of_inverted_cmyk(const Image& image);

}  // namespace convoke::data_prep
