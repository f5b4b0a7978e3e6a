#include "pictures/orientation.hpp"

#include <algorithm>
#include <cstddef>

namespace convoke::data_prep {
namespace {

constexpr std::size_t kEntryBytes = 12;  // directory entry: tag, type, count, value
constexpr std::uint32_t kOrientationTag = 0x0112;
constexpr std::uint32_t kShort = 3;

}  // namespace

int exif_orientation(std::span<const std::uint8_t> tiff) {
  if (tiff.size() < 8 || tiff[0] != tiff[1] || (tiff[0] != 'I' && tiff[0] != 'M')) return 1;
  const bool little = tiff[0] == 'I';
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | tiff[at + (little ? bytes - 1 - i : i)];
    return value;
  };
  const std::size_t directory = number(4, 4);
  if (number(2, 2) != 42 || directory > tiff.size() - 2) return 1;
  const std::size_t entries = number(directory, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntryBytes;
    if (entry + kEntryBytes > tiff.size()) return 1;
    if (number(entry, 2) != kOrientationTag || number(entry + 2, 2) != kShort) continue;
    const std::uint32_t orientation = number(entry + 8, 2);
    return orientation >= 1 && orientation <= 8 ? static_cast<int>(orientation) : 1;
  }
  return 1;
}

// Orientation of the stored rows and columns:  1 upright   2 columns mirrored   3 turned by 180°   4 rows
// mirrored   5 to 8: the same four with rows and columns swapped; 6 is a camera turned by 90°.
Image upright(Image image, int orientation) {
  if (orientation <= 1 || orientation > 8) return image;
  const bool swaps = swaps_axes(orientation);
  const bool mirrors_rows = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool mirrors_columns = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  Image seen{swaps ? image.width : image.height, swaps ? image.height : image.width, image.channels, {}};
  seen.values.resize(image.values.size());
  Box part = image.content();
  const auto rows = static_cast<double>(image.height), columns = static_cast<double>(image.width);
  if (mirrors_rows) part = {rows - part.bottom, part.left, rows - part.top, part.right};
  if (mirrors_columns) part = {part.top, columns - part.right, part.bottom, columns - part.left};
  seen.part = swaps ? Box{part.left, part.top, part.right, part.bottom} : part;
  const auto channels = static_cast<std::size_t>(image.channels);
  std::uint8_t* out = seen.values.data();
  for (std::int64_t y = 0; y < seen.height; ++y) {
    for (std::int64_t x = 0; x < seen.width; ++x) {
      std::int64_t row = swaps ? x : y;
      std::int64_t column = swaps ? y : x;
      if (mirrors_rows) row = image.height - 1 - row;
      if (mirrors_columns) column = image.width - 1 - column;
      const std::uint8_t* const in =
          image.values.data() + static_cast<std::size_t>(row * image.width + column) * channels;
      out = std::copy_n(in, channels, out);
    }
  }
  return seen;
}

}  // namespace convoke::data_prep
