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
  Shape shape;                 ///< (H, W, C), (L, F), (F) or (L); of a large image: of its thumbnail
  std::vector<double> values;  ///< in units of the stored values; an image's averages over its areas
};

/// Sides of thumbnails; smaller images are shown as they are.
constexpr std::int64_t kLargestSide = 72;

/// Reads one sample.
Exhibit exhibit(const data::DatasetReader& reader, Place place);

/// An image (H, W, C) averaged to (h, w, C), h <= H, w <= W: each pixel is the mean of the source pixels that
/// fall into it.
template <class T>
void area_average(const T* image, const Shape& stored, std::int64_t h, std::int64_t w, double* out);

/// (h, w, C) with the proportions of `stored` (H, W, C) and no side above `largest`; at least 1 pixel each.
Shape fit_within(const Shape& stored, std::int64_t largest);

}  // namespace convoke::explore
