#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/data_prep/pictures/image.hpp"
#include "convoke/data_prep/pictures/resize.hpp"

namespace convoke::data_prep {

/// Where a fit puts what: the part `from` of the picture fills the rectangle of the sample that begins at
/// (top, left) and has `size`; the rest of the sample is black.
struct Placement {
  Box from = {};
  std::int64_t top = 0;
  std::int64_t left = 0;
  Extent size = {};
};

/// A way to bring pictures of any size to one.
struct Fit {
  std::string_view name;
  Placement (*place)(const Image& picture, const Extent& sample);
  /// The size to which a picture may be reduced beforehand, as it is decoded, so that nothing is lost.
  Extent (*enough)(const Extent& picture, const Extent& sample);
  std::int64_t usual_size = 0;  ///< height and width where none is given; 0: as the pictures
};

/// Throws Error if the table of fits has none of that name, listing them.
const Fit& find_fit(std::string_view name);

/// "area", "letter-box", ...: for help texts.
std::vector<std::string> fit_names();

/// Fits the picture, of 1 or 3 channels, into `sample`, (height, width, C) bytes.
void apply(const Fit& fit, const Image& picture, const Extent& size, std::span<std::uint8_t> sample);

}  // namespace convoke::data_prep
