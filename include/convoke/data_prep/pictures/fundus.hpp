#pragma once
#include <optional>

#include "convoke/data_prep/pictures/fit.hpp"

namespace convoke::data_prep {

/// In pixels; (0, 0) is the upper left corner of the first pixel.
struct Circle {
  double y = 0, x = 0, radius = 0;
};

/// Finds the rim of the eye in a photograph of a retina: a bright disc on a dark background, which may be off
/// center, cut off on any side, and dark. Fits a circle to the points where brightness rises above a tenth of
/// its range, in an image reduced to 256 pixels; outliers such as notches and specks do not count. Returns
/// none if there is no contrast or no part of the rim is visible.
std::optional<Circle> find_eye(const Image& picture);

/// Fit "fundus": the square around the eye, black where it extends beyond the picture; same as "crop" if no
/// eye is found. (After B. Graham, Kaggle Diabetic Retinopathy Detection, 2015, who also scales to the
/// radius.)
Placement place_fundus(const Image& picture, const PictureSize& sample);

/// Returns a size at which an eye that is at least half as wide as the picture's shorter side loses no
/// detail.
PictureSize enough_fundus(const PictureSize& picture, const PictureSize& sample);

}  // namespace convoke::data_prep
