#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "convoke/data/warp.hpp"

namespace convoke::data {

/// A number is drawn evenly from [low, high).
using Interval = std::array<double, 2>;

/// How far an image is shifted along an axis, as Keras's width_shift_range: one number r below 1 is a share
/// of the extent, drawn evenly from (-r, r); a whole number from 1 on is pixels, -(r - 1) .. r - 1; any other
/// is pixels, drawn evenly. Of several one is chosen, and a sign.
using ShiftRange = std::vector<double>;

/// What is done to the images of a training set, before they are normalised; nothing by default. Names and
/// meaning are those of Keras's ImageDataGenerator where it has them. Which augmentations there are, and in
/// which order they act, stands in src/data/augment/augmentation.cpp.
struct AugmentOptions {
  // Geometry: together one bilinear warp.
  std::int64_t random_crop = 0;           ///< pixels on each side that a crop of the same size may move
  Interval random_resized_crop{1, 1};     ///< share of the area that is cropped and stretched; {1, 1}: off
  Interval crop_ratio{3.0 / 4, 4.0 / 3};  ///< width / height of that part
  double rotation_range = 0;              ///< degrees, to either side
  ShiftRange width_shift_range{0}, height_shift_range{0};
  double shear_range = 0;     ///< degrees, to either side
  Interval zoom_range{1, 1};  ///< of height and width each by itself; above 1: smaller
  bool horizontal_flip = false, vertical_flip = false;  ///< of half of the images
  Fill fill;

  // Colour, of 8-bit images; values stay within 0..255.
  double channel_shift_range = 0;  ///< is added, in units of pixels; values stay within those of the image
  Interval brightness_range{1, 1};
  Interval contrast_range{1, 1};
  Interval saturation_range{1, 1};
  double hue_range = 0;  ///< of a turn, to either side, at most 0.5

  // RandAugment (Cubuk et al. 2020, "RandAugment: Practical automated data augmentation").
  std::int64_t randaugment = 0;            ///< how many operations; 0: off
  std::int64_t randaugment_magnitude = 9;  ///< 0..30

  std::int64_t cutout = 0;  ///< pixels of a side of a square of zeros (DeVries and Taylor 2017); 0: off

  // Of two samples of a lane.
  double mixup = 0;            ///< alpha (Zhang et al. 2018); 0: off
  double cutmix = 0;           ///< alpha (Yun et al. 2019); with both, either is as likely
  double mix_probability = 1;  ///< of a pair

  bool mixes() const { return mixup > 0 || cutmix > 0; }
  friend bool operator==(const AugmentOptions& a, const AugmentOptions& b) = default;
};

}  // namespace convoke::data
