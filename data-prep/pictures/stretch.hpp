#pragma once
#include "convoke/data_prep/pictures/fit.hpp"

namespace convoke::data_prep {

/// Fit "area": the whole picture, height and width each by itself.
Placement place_stretched(const Image& picture, const Extent& sample);

/// Fit "letter-box": the whole picture, its shape kept, with black borders on two sides (Pillow's
/// ImageOps.pad).
Placement place_letter_box(const Image& picture, const Extent& sample);

/// Fit "crop": as much of the middle as has the sample's shape (Pillow's ImageOps.fit).
Placement place_cropped(const Image& picture, const Extent& sample);

Extent enough_stretched(const Extent& picture, const Extent& sample);
Extent enough_letter_box(const Extent& picture, const Extent& sample);
Extent enough_cropped(const Extent& picture, const Extent& sample);

}  // namespace convoke::data_prep
