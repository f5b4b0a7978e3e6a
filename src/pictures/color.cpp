#include "pictures/color.hpp"

#include <algorithm>
#include <cstddef>

#include "convoke/core/error.hpp"
#include "convoke/core/multiversion.hpp"

namespace convoke::pictures {

namespace {

// All kernels work on n interleaved pixels.

CONVOKE_MULTIVERSION
void gray_of_rgb(const std::uint8_t* rgb, std::uint8_t* gray, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t sum = 19595U * rgb[3 * i] + 38470U * rgb[3 * i + 1] + 7471U * rgb[3 * i + 2];
    gray[i] = static_cast<std::uint8_t>((sum + 0x8000U) >> 16);
  }
}

CONVOKE_MULTIVERSION
void rgb_of_gray(const std::uint8_t* gray, std::uint8_t* rgb, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) rgb[3 * i] = rgb[3 * i + 1] = rgb[3 * i + 2] = gray[i];
}

// Keeps the first `kept` of `stored` channels.
void drop_last(const std::uint8_t* in, std::size_t stored, std::uint8_t* out, std::size_t n) {
  const std::size_t kept = stored - 1;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < kept; ++c) out[i * kept + c] = in[i * stored + c];
  }
}

// round(a b / 255)
std::uint8_t product(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t t = a * b + 128;
  return static_cast<std::uint8_t>((t + (t >> 8)) >> 8);
}

std::size_t pixels_of(const Image& image) { return static_cast<std::size_t>(image.height * image.width); }

Image empty_like(const Image& image, std::int64_t channels) {
  Image empty{image.height, image.width, channels, {}, image.part};
  empty.values.resize(pixels_of(image) * static_cast<std::size_t>(channels));
  return empty;
}

}  // namespace

Image to_channels(Image image, std::int64_t channels) {
  ensure(channels == 1 || channels == 3, "the target is gray or RGB");
  if (image.channels == 2 || image.channels == 4) {
    Image opaque = empty_like(image, image.channels - 1);
    drop_last(image.values.data(), static_cast<std::size_t>(image.channels), opaque.values.data(),
              pixels_of(image));
    image = std::move(opaque);
  }
  if (image.channels == channels) return image;
  Image converted = empty_like(image, channels);
  (channels == 1 ? gray_of_rgb : rgb_of_gray)(image.values.data(), converted.values.data(), pixels_of(image));
  return converted;
}

//   R = K - round((255 - C) K / 255) with C, K inverted
Image rgb_of_inverted_cmyk(const Image& image) {
  ensure(image.channels == 4, "CMYK has four channels");
  Image rgb = empty_like(image, 3);
  for (std::size_t i = 0; i < pixels_of(image); ++i) {
    const std::uint8_t* const in = &image.values[4 * i];
    for (std::size_t c = 0; c < 3; ++c) {
      rgb.values[3 * i + c] = static_cast<std::uint8_t>(in[3] - product(255U - in[c], in[3]));
    }
  }
  return rgb;
}

namespace {

constexpr std::size_t kEntryBytes = 12;  // directory entry: tag, type, count, value
constexpr std::uint32_t kOrientationTag = 0x0112;
constexpr std::uint32_t kShort = 3, kLong = 4;  // types, of 2 and 4 bytes

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
    const std::uint32_t type = number(entry + 2, 2);
    if (number(entry, 2) != kOrientationTag || (type != kShort && type != kLong)) continue;
    const std::uint32_t orientation = number(entry + 8, type == kShort ? 2 : 4);
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

}  // namespace convoke::pictures
