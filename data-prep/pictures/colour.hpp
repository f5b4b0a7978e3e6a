#pragma once
#include <cstdint>

#include "convoke/data_prep/pictures/image.hpp"

namespace convoke::data_prep {

/// Converts to 1 (grey) or 3 (RGB) channels as Pillow's convert does: alpha, the last of 2 or 4 channels, is
/// dropped; a grey value becomes R, G and B; L = (19595 R + 38470 G + 7471 B + 2^15) / 2^16.
Image to_channels(Image image, std::int64_t channels);

/// Converts CMYK, inverted (255: no ink) as in Adobe's JPEGs, to RGB as Pillow does: R = C K / 255.
Image rgb_of_inverted_cmyk(const Image& image);

}  // namespace convoke::data_prep
