#include "pictures/stretch.hpp"

#include <algorithm>
#include <cmath>

namespace convoke::data_prep {
namespace {

double height_per_width(const Extent& extent) {
  return static_cast<double>(extent.height) / static_cast<double>(extent.width);
}

// To the even one of two neighbours, as Python rounds.
std::int64_t rounded(double value) { return std::llrint(value); }

Box whole(const Image& picture) {
  return {0, 0, static_cast<double>(picture.height), static_cast<double>(picture.width)};
}

// The picture as large as it can be within the sample.
Extent contained(const Extent& picture, const Extent& sample) {
  Extent size = sample;
  if (height_per_width(picture) < height_per_width(sample)) {
    size.height = rounded(height_per_width(picture) * static_cast<double>(sample.width));
  } else {
    size.width = rounded(static_cast<double>(sample.height) / height_per_width(picture));
  }
  return {std::max<std::int64_t>(1, size.height), std::max<std::int64_t>(1, size.width)};
}

}  // namespace

Placement place_stretched(const Image& picture, const Extent& sample) {
  return {.from = whole(picture), .size = sample};
}

Placement place_letter_box(const Image& picture, const Extent& sample) {
  const Extent size = contained(picture.extent(), sample);
  return {.from = whole(picture),
          .top = rounded(static_cast<double>(sample.height - size.height) / 2),
          .left = rounded(static_cast<double>(sample.width - size.width) / 2),
          .size = size};
}

Placement place_cropped(const Image& picture, const Extent& sample) {
  Box from = whole(picture);
  if (height_per_width(picture.extent()) < height_per_width(sample)) {
    const double width = static_cast<double>(picture.height) / height_per_width(sample);
    from.left = std::max(0.0, (from.right - width) / 2);
    from.right -= from.left;
  } else {
    const double height = static_cast<double>(picture.width) * height_per_width(sample);
    from.top = std::max(0.0, (from.bottom - height) / 2);
    from.bottom -= from.top;
  }
  return {.from = from, .size = sample};
}

Extent enough_stretched(const Extent&, const Extent& sample) { return sample; }

Extent enough_letter_box(const Extent& picture, const Extent& sample) { return contained(picture, sample); }

// The sample as small as it can be around the whole picture.
Extent enough_cropped(const Extent& picture, const Extent& sample) {
  const double scale = std::max(static_cast<double>(sample.height) / static_cast<double>(picture.height),
                                static_cast<double>(sample.width) / static_cast<double>(picture.width));
  return {static_cast<std::int64_t>(std::ceil(scale * static_cast<double>(picture.height) - 1e-9)),
          static_cast<std::int64_t>(std::ceil(scale * static_cast<double>(picture.width) - 1e-9))};
}

}  // namespace convoke::data_prep
