#pragma once
#include <cstdint>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/data/dataset_reader.hpp"
#include "convoke/explore/sampling.hpp"

namespace convoke::explore {

/// A sample to be shown.
struct Exhibit {
  Place place;
  std::int32_t label = 0;
  Shape shape;                 ///< (H, W, C), (L, F), (F) or (L); for a large image: of its thumbnail
  std::vector<double> values;  ///< in units of the stored values; averages over areas for a large image
};

/// Largest side of thumbnails, in pixels; smaller images are not changed.
constexpr std::int64_t kLargestSide = 72;

/// Reads one sample.
Exhibit exhibit(const data::DatasetReader& reader, Place place);

/// Averages an image (H, W, C) to (h, w, C), h <= H, w <= W: each pixel is the mean of the source pixels in
/// its area.
template <class T>
void area_average(const T* image, const Shape& stored, std::int64_t h, std::int64_t w, double* out);

/// Returns (h, w, C) with the proportions of `stored` (H, W, C) and no side above `largest`; each side has at
/// least 1 pixel.
Shape fit_within(const Shape& stored, std::int64_t largest);

}  // namespace convoke::explore
