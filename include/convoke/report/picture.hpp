#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/shape.hpp"

namespace convoke::report {

/// Pixels of 8 bits, row-major: gray (1 channel) or red, green, blue (3).
struct Picture {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t channels = 1;
  std::vector<std::uint8_t> pixels = {};  ///< (height, width, channels)
};

/// Returns an 8-bit image (h, w, C) as a picture: the first channel, or the first three if there are three or
/// more.
Picture picture_of(const Shape& shape, std::span<const std::uint8_t> image);

/// Returns the picture as a lossless PNG file.
std::vector<std::uint8_t> png(const Picture& picture);

/// Returns "data:image/png;base64,...": the picture embedded in a page. PNG is lossless; color pictures
/// become JPEG (quality 90) if that takes less than half the bytes, as for photographs.
std::string data_uri(const Picture& picture);

/// Arranges pictures of one size in rows of `columns`, with 2 gray pixels between them. Not empty.
Picture contact_sheet(std::span<const Picture> pictures, std::int64_t columns);

/// Numbers from 0 to 1 for the places of a picture, on a grid of its own.
struct Overlay {
  std::int64_t height = 0, width = 0;
  std::vector<double> values = {};  ///< (height, width)
};

/// Returns the picture in colors with the map over it, interpolated linearly between the centers of its
/// places: 0 leaves the picture as it is, larger values are red, the largest yellow.
Picture overlaid(const Picture& picture, const Overlay& map);

/// A picture on a page.
struct Figure {
  Picture picture;
  std::string caption;
  double scale = 1;  ///< page pixels per pixel; smaller if the page is too narrow
};

/// Pictures that a page shows together.
struct NamedGallery {
  std::string title;
  std::vector<Figure> figures;
};

/// Returns `<div class=gallery>` of figures side by side, as many as fit in a row.
std::string gallery(std::span<const Figure> figures);

}  // namespace convoke::report
