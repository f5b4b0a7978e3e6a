#include "convoke/explore/exhibit.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>

namespace convoke::explore {
namespace {

constexpr std::size_t kPictureRank = 3;

template <class T>
Exhibit read_exhibit(const data::DatasetReader& reader, Place place) {
  const Shape stored = data::stored_shape(reader.info().sample_shape);
  std::vector<T> values(reader.sample_size());
  reader.read(place.split, place.index, std::span(values));
  Exhibit result{
      place, reader.splits()[place.split].labels[static_cast<std::size_t>(place.index)], stored, {}};
  if (stored.rank() != kPictureRank) {
    result.values.assign(values.begin(), values.end());
    return result;
  }
  result.shape = fit_within(stored, kLargestSide);
  result.values.resize(static_cast<std::size_t>(result.shape.elements()));
  if constexpr (!std::is_same_v<T, std::int32_t>) {  // tokens are not images
    area_average(values.data(), stored, result.shape[0], result.shape[1], result.values.data());
  }
  return result;
}

}  // namespace

Exhibit exhibit(const data::DatasetReader& reader, Place place) {
  switch (reader.info().sample_type) {
    case data::SampleType::kUint8:
      return read_exhibit<std::uint8_t>(reader, place);
    case data::SampleType::kInt32:
      return read_exhibit<std::int32_t>(reader, place);
    default:
      return read_exhibit<float>(reader, place);
  }
}

//   out[y][x][c] = mean of image[v][u][c] over v in [y H / h, (y + 1) H / h), u in [x W / w, (x + 1) W / w)
template <class T>
void area_average(const T* image, const Shape& stored, std::int64_t h, std::int64_t w, double* out) {
  const std::int64_t height = stored[0];
  const std::int64_t width = stored[1];
  const std::int64_t channels = stored[2];
  for (std::int64_t y = 0; y < h; ++y) {
    for (std::int64_t x = 0; x < w; ++x) {
      const std::int64_t top = y * height / h, bottom = (y + 1) * height / h;
      const std::int64_t left = x * width / w, right = (x + 1) * width / w;
      const double area = static_cast<double>((bottom - top) * (right - left));
      for (std::int64_t c = 0; c < channels; ++c) {
        double sum = 0;
        for (std::int64_t v = top; v < bottom; ++v) {
          for (std::int64_t u = left; u < right; ++u) {
            sum += static_cast<double>(image[(v * width + u) * channels + c]);
          }
        }
        out[(y * w + x) * channels + c] = sum / area;
      }
    }
  }
}

template void area_average(const std::uint8_t*, const Shape&, std::int64_t, std::int64_t, double*);
template void area_average(const float*, const Shape&, std::int64_t, std::int64_t, double*);
template void area_average(const double*, const Shape&, std::int64_t, std::int64_t, double*);

Shape fit_within(const Shape& stored, std::int64_t largest) {
  const std::int64_t side = std::max(stored[0], stored[1]);
  if (side <= largest) return stored;
  const auto scaled = [&](std::int64_t extent) { return std::max<std::int64_t>(1, extent * largest / side); };
  return {scaled(stored[0]), scaled(stored[1]), stored[2]};
}

}  // namespace convoke::explore
