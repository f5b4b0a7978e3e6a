#pragma once
#include <cstdint>
#include <span>

#include "convoke/pictures/image.hpp"

namespace convoke::pictures {

/// Converts to 1 (gray) or 3 (RGB) channels as Pillow's convert does: alpha, the last of 2 or 4 channels, is
/// dropped; a gray value becomes R, G and B; L = (19595 R + 38470 G + 7471 B + 2^15) / 2^16.
Image to_channels(Image image, std::int64_t channels);

/// Converts CMYK, inverted (255: no ink) as in Adobe's JPEGs, to RGB as Pillow does: R = C K / 255.
Image rgb_of_inverted_cmyk(const Image& image);

/// Returns the orientation, 1 to 8, in an EXIF block (a TIFF header and its first directory); 1, upright, if
/// there is none or the block is damaged.
int exif_orientation(std::span<const std::uint8_t> tiff);

/// True if upright() swaps height and width.
inline bool swaps_axes(int orientation) { return orientation >= 5; }

/// Returns the image upright (as Pillow's ImageOps.exif_transpose).
Image upright(Image image, int orientation);

}  // namespace convoke::pictures
