#pragma once
#include <cstdint>
#include <span>

#include "convoke/data_prep/pictures/image.hpp"

namespace convoke::data_prep {

/// Returns the orientation, 1 to 8, in an EXIF block (a TIFF header and its first directory); 1, upright, if
/// there is none or the block is damaged.
int exif_orientation(std::span<const std::uint8_t> tiff);

/// True if upright() swaps height and width.
inline bool swaps_axes(int orientation) { return orientation >= 5; }

/// Returns the image upright (as Pillow's ImageOps.exif_transpose).
Image upright(Image image, int orientation);

}  // namespace convoke::data_prep
