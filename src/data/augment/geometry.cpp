#include "data/augment/augmentation.hpp"

#include <algorithm>
#include <cmath>

namespace convoke::data {
namespace {

const Interval kOff{1, 1};
const ShiftRange kNoShift{0};

double draw_sign(RandomStream& random) { return random.next_word() % 2 == 0 ? 1 : -1; }

double draw_shift(const ShiftRange& range, double extent, RandomStream& random) {
  if (range == kNoShift) return 0;
  double shift = 0, largest = 0;
  for (const double value : range) largest = std::max(largest, std::abs(value));
  if (range.size() > 1) {
    shift = range[random.below(range.size())] * draw_sign(random);
  } else if (range[0] >= 1 && range[0] == std::floor(range[0])) {
    shift = static_cast<double>(random.below(static_cast<std::uint64_t>(range[0]))) * draw_sign(random);
  } else {
    shift = draw_around(range[0], random);
  }
  return largest < 1 ? shift * extent : shift;
}

// As torchvision's RandomResizedCrop: draws a share of the area and, uniformly in its logarithm, a ratio
// until the crop fits; after ten failures takes the largest crop in the middle whose ratio is allowed.
Rectangle draw_part(const AugmentOptions& options, double height, double width, RandomStream& random) {
  const Interval logs{std::log(options.crop_ratio[0]), std::log(options.crop_ratio[1])};
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = draw_from(options.random_resized_crop, random) * height * width;
    const double ratio = std::exp(draw_from(logs, random));
    const double w = std::round(std::sqrt(area * ratio)), h = std::round(std::sqrt(area / ratio));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    const auto top = static_cast<double>(random.below(static_cast<std::uint64_t>(height - h) + 1));
    const auto left = static_cast<double>(random.below(static_cast<std::uint64_t>(width - w) + 1));
    return {top, left, h, w};
  }
  const double ratio = width / height;
  double h = height, w = width;
  if (ratio < options.crop_ratio[0]) h = std::round(w / options.crop_ratio[0]);
  if (ratio > options.crop_ratio[1]) w = std::round(h * options.crop_ratio[1]);
  return {std::floor((height - h) / 2), std::floor((width - w) / 2), h, w};
}

double extent(const Shape& image, std::size_t axis) { return static_cast<double>(image[axis]); }

}  // namespace

bool wants_crop(const AugmentOptions& options) {
  return options.random_crop > 0 || options.random_resized_crop != kOff;
}

void draw_crop(const AugmentOptions& options, const Shape& image, RandomStream& random, Change& change) {
  const double height = extent(image, 1), width = extent(image, 2);
  if (options.random_resized_crop != kOff) {
    change.move(crop(draw_part(options, height, width, random), height, width));
  }
  if (options.random_crop > 0) {
    const auto places = static_cast<std::uint64_t>(2 * options.random_crop + 1);
    const auto margin = static_cast<double>(options.random_crop);
    const double down = static_cast<double>(random.below(places)) - margin;
    const double right = static_cast<double>(random.below(places)) - margin;
    change.move({.y0 = down, .x0 = right});
  }
}

bool wants_affine(const AugmentOptions& options) {
  return options.rotation_range != 0 || options.width_shift_range != kNoShift ||
         options.height_shift_range != kNoShift || options.shear_range != 0 || options.zoom_range != kOff;
}

void draw_affine(const AugmentOptions& options, const Shape& image, RandomStream& random, Change& change) {
  const double height = extent(image, 1), width = extent(image, 2);
  AffineTransform transform;
  transform.theta = draw_around(options.rotation_range, random);
  transform.ty = draw_shift(options.height_shift_range, height, random);
  transform.tx = draw_shift(options.width_shift_range, width, random);
  transform.shear = draw_around(options.shear_range, random);
  if (options.zoom_range != kOff) {
    transform.zx = draw_from(options.zoom_range, random);
    transform.zy = draw_from(options.zoom_range, random);
  }
  change.move(affine_map(transform, height, width));
}

bool wants_flip(const AugmentOptions& options) { return options.horizontal_flip || options.vertical_flip; }

void draw_flip(const AugmentOptions& options, const Shape& image, RandomStream& random, Change& change) {
  const std::uint32_t coins = random.next_word();
  if (options.horizontal_flip && (coins & 1) != 0) change.move(horizontal_flip(extent(image, 2)));
  if (options.vertical_flip && (coins & 2) != 0) change.move(vertical_flip(extent(image, 1)));
}

}  // namespace convoke::data
