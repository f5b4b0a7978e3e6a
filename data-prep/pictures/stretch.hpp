#pragma once
#include "convoke/data_prep/pictures/fit.hpp"

namespace convoke::data_prep {

/// Fit "area": the whole picture; height and width are scaled independently.
Placement place_stretched(const Image& picture, const PictureSize& sample);

/// Fit "letter-box": the whole picture with its shape, and black borders on two sides (as Pillow's
/// ImageOps.pad).
Placement place_letter_box(const Image& picture, const PictureSize& sample);

/// Fit "crop": the largest middle part with the sample's shape (as Pillow's ImageOps.fit).
Placement place_cropped(const Image& picture, const PictureSize& sample);

PictureSize enough_stretched(const PictureSize& picture, const PictureSize& sample);
PictureSize enough_letter_box(const PictureSize& picture, const PictureSize& sample);
PictureSize enough_cropped(const PictureSize& picture, const PictureSize& sample);

}  // namespace convoke::data_prep
