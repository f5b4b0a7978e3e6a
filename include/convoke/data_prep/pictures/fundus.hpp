#pragma once
#include <optional>

#include "convoke/data_prep/pictures/fit.hpp"
#include "convoke/data_prep/pictures/image.hpp"

namespace convoke::data_prep {

/// In pixels; (0, 0) is the upper left corner of the first pixel.
struct Circle {
  double y = 0, x = 0, radius = 0;
};

/// The rim of the eye in a photograph of a retina: a bright disc on a dark background, which may be off
/// centre and cut off on any side, and dark itself. The circle that fits best where brightness rises above a
/// tenth of its range, in an image reduced to 256 pixels; what does not fit, as notches and specks, counts
/// for nothing. None if nothing stands out or no part of the rim is seen.
std::optional<Circle> find_eye(const Image& picture);

/// Fit "fundus": the square around the eye, black where it is beyond the picture; as "crop" if there is none.
/// (Before B. Graham, Kaggle Diabetic Retinopathy Detection, 2015, who scales to the radius too.)
Placement place_fundus(const Image& picture, const Extent& sample);

/// An eye that is at least half as wide as the picture's shorter side loses nothing.
Extent enough_fundus(const Extent& picture, const Extent& sample);

}  // namespace convoke::data_prep
