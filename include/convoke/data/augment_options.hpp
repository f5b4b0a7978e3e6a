#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "convoke/data/warp.hpp"

namespace convoke::data {

/// Numbers are drawn uniformly from [low, high).
using Interval = std::array<double, 2>;

/// The shift of an image along an axis, as Keras's width_shift_range. One number r below 1 is a share of the
/// extent, drawn uniformly from (-r, r). A whole number from 1 on is a number of pixels, one of -(r - 1) .. r
/// - 1. Any other number is pixels, drawn uniformly. From a list, one value is chosen, and its sign.
using ShiftRange = std::vector<double>;

/// The augmentations of a training set's images, made before normalization; by default none. Names and
/// meaning are those of Keras's ImageDataGenerator where it has them. src/data/augment/augmenter.cpp lists
/// all augmentations in the order in which they act.
struct AugmentOptions {
  // Geometry: all in one bilinear warp.
  std::int64_t random_crop = 0;           ///< pixels by which a crop of the same size may move to each side
  Interval random_resized_crop{1, 1};     ///< share of the area that is cropped and stretched; {1, 1}: off
  Interval crop_ratio{3.0 / 4, 4.0 / 3};  ///< width / height of the crop
  double rotation_range = 0;              ///< degrees, to both sides
  ShiftRange width_shift_range{0}, height_shift_range{0};
  double shear_range = 0;     ///< degrees, to both sides
  Interval zoom_range{1, 1};  ///< height and width are drawn separately; above 1: smaller
  bool horizontal_flip = false, vertical_flip = false;  ///< half of the images are flipped
  Fill fill;

  // Color of 8-bit images; values stay within 0..255.
  double channel_shift_range = 0;  ///< added, in units of pixels; values stay within those of the image
  Interval brightness_range{1, 1};
  Interval contrast_range{1, 1};
  Interval saturation_range{1, 1};
  double hue_range = 0;  ///< share of a full turn, to both sides, at most 0.5

  // RandAugment (Cubuk et al. 2020, "RandAugment: Practical automated data augmentation").
  std::int64_t randaugment = 0;            ///< number of operations; 0: off
  std::int64_t randaugment_magnitude = 9;  ///< 0..30

  std::int64_t cutout = 0;  ///< side of a square of zeros, in pixels (DeVries and Taylor 2017); 0: off

  // Mixing of two samples of a micro-batch.
  double mixup = 0;            ///< alpha (Zhang et al. 2018); 0: off
  double cutmix = 0;           ///< alpha (Yun et al. 2019); with both, each is chosen half of the time
  double mix_probability = 1;  ///< probability that a pair is mixed

  bool mixes() const { return mixup > 0 || cutmix > 0; }
  /// True if pixels from beyond the edges, which `fill` defines, may move into an image.
  bool needs_fill() const;
  /// True if an image may change; false if only options are set that need another one.
  bool changes_anything() const;
  friend bool operator==(const AugmentOptions& a, const AugmentOptions& b) = default;
};

}  // namespace convoke::data
