#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/data_prep/pictures/resize.hpp"

namespace convoke::data_prep {

/// A placement: the part `from` of the picture fills the rectangle of the sample that begins at (top, left)
/// and has `size`; the rest of the sample is black.
struct Placement {
  Box from = {};
  std::int64_t top = 0;
  std::int64_t left = 0;
  PictureSize size = {};
};

/// A way to give pictures of any size one size.
struct Fit {
  std::string_view name;
  Placement (*place)(const Image& picture, const PictureSize& sample);
  /// Returns the size to which decoding may reduce a picture without losing detail.
  PictureSize (*enough)(const PictureSize& picture, const PictureSize& sample);
  std::int64_t usual_size = 0;  ///< height and width by default; 0: as the pictures
};

/// Throws Error listing the names if no fit has that name.
const Fit& find_fit(std::string_view name);

/// Returns "area", "letter-box", ... for help texts.
std::vector<std::string> fit_names();

/// Fits a picture of 1 or 3 channels into `sample`, (height, width, C) bytes.
void apply(const Fit& fit, const Image& picture, const PictureSize& size, std::span<std::uint8_t> sample);

/// In pixels; (0, 0) is the upper left corner of the first pixel.
struct Circle {
  double y = 0, x = 0, radius = 0;
};

/// Finds the rim of the eye in a photograph of a retina: a bright disc on a dark background, which may be off
/// center, cut off on any side, and dark. Fits a circle to the points where brightness rises above a tenth of
/// its range, in an image reduced to 256 pixels; outliers such as notches and specks do not count. Returns
/// none if there is no contrast or no part of the rim is visible.
std::optional<Circle> find_eye(const Image& picture);

}  // namespace convoke::data_prep
