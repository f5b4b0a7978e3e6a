#include "convoke/data_prep/pictures/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/data_prep/pictures/fundus.hpp"

namespace convoke::data_prep {
namespace {

double height_per_width(const PictureSize& extent) {
  return static_cast<double>(extent.height) / static_cast<double>(extent.width);
}
double height_per_width(const Box& box) { return box.height() / box.width(); }

// Rounds halves to even, as Python does.
std::int64_t rounded(double value) { return std::llrint(value); }

// Returns the largest picture of that shape (height / width) that fits into the sample.
PictureSize contained(double shape, const PictureSize& sample) {
  PictureSize size = sample;
  if (shape < height_per_width(sample)) {
    size.height = rounded(shape * static_cast<double>(sample.width));
  } else {
    size.width = rounded(static_cast<double>(sample.height) / shape);
  }
  return {std::max<std::int64_t>(1, size.height), std::max<std::int64_t>(1, size.width)};
}

// Fit "area": the whole picture; height and width are scaled independently.
Placement place_stretched(const Image& picture, const PictureSize& sample) {
  return {.from = picture.content(), .size = sample};
}

// Fit "letter-box": the whole picture with its shape, and black borders on two sides (as Pillow's
// ImageOps.pad).
Placement place_letter_box(const Image& picture, const PictureSize& sample) {
  const PictureSize size = contained(height_per_width(picture.content()), sample);
  return {.from = picture.content(),
          .top = rounded(static_cast<double>(sample.height - size.height) / 2),
          .left = rounded(static_cast<double>(sample.width - size.width) / 2),
          .size = size};
}

// Fit "crop": the largest middle part with the sample's shape (as Pillow's ImageOps.fit).
Placement place_cropped(const Image& picture, const PictureSize& sample) {
  Box from = picture.content();
  const double shape = height_per_width(sample);
  if (height_per_width(from) < shape) {
    const double border = std::max(0.0, from.width() - from.height() / shape) / 2;
    from.left += border;
    from.right -= border;
  } else {
    const double border = std::max(0.0, from.height() - from.width() * shape) / 2;
    from.top += border;
    from.bottom -= border;
  }
  return {.from = from, .size = sample};
}

PictureSize enough_stretched(const PictureSize&, const PictureSize& sample) { return sample; }

PictureSize enough_letter_box(const PictureSize& picture, const PictureSize& sample) {
  return contained(height_per_width(picture), sample);
}

// Returns the smallest rectangle of the sample's shape around the whole picture.
PictureSize enough_cropped(const PictureSize& picture, const PictureSize& sample) {
  const double scale = std::max(static_cast<double>(sample.height) / static_cast<double>(picture.height),
                                static_cast<double>(sample.width) / static_cast<double>(picture.width));
  return {static_cast<std::int64_t>(std::ceil(scale * static_cast<double>(picture.height) - 1e-9)),
          static_cast<std::int64_t>(std::ceil(scale * static_cast<double>(picture.width) - 1e-9))};
}

constexpr std::array kFits{
    Fit{"area", place_stretched, enough_stretched},
    Fit{"letter-box", place_letter_box, enough_letter_box},
    Fit{"crop", place_cropped, enough_cropped},
    Fit{"fundus", place_fundus, enough_fundus, 256},
};

}  // namespace

const Fit& find_fit(std::string_view name) { return find_in(kFits, name, "fit"); }

std::vector<std::string> fit_names() { return names_in(kFits); }

// A picture that already has the size is stored unchanged, whatever the fit.
void apply(const Fit& fit, const Image& picture, const PictureSize& size, std::span<std::uint8_t> sample) {
  ensure(sample.size() == static_cast<std::size_t>(size.height * size.width * picture.channels),
         "a sample has room for the fitted picture");
  if (picture.extent() == size) {
    std::copy(picture.values.begin(), picture.values.end(), sample.begin());
    return;
  }
  const Placement place = fit.place(picture, size);
  if (place.size != size) std::fill(sample.begin(), sample.end(), std::uint8_t{0});
  resize(picture, place.from, place.size,
         sample.data() + (place.top * size.width + place.left) * picture.channels,
         size.width * picture.channels);
}

}  // namespace convoke::data_prep
