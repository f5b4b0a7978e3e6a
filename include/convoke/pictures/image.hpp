#pragma once
#include <cstdint>
#include <vector>

namespace convoke::pictures {

/// Height and width in pixels.
struct PictureSize {
  std::int64_t height = 0;
  std::int64_t width = 0;
  friend bool operator==(const PictureSize&, const PictureSize&) = default;
};

/// A part of an image; its borders may lie within pixels.
struct Box {
  double top = 0, left = 0, bottom = 0, right = 0;
  double height() const { return bottom - top; }
  double width() const { return right - left; }
};

/// A decoded image: (H, W, C) bytes.
struct Image {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::vector<std::uint8_t> values = {};

  /// The picture's rectangle, if it ends within the last pixels, as in a reduced picture; empty: the whole
  /// image.
  Box part = {};

  PictureSize extent() const { return {height, width}; }
  Box content() const {
    return part.bottom > 0 ? part : Box{0, 0, static_cast<double>(height), static_cast<double>(width)};
  }
};

}  // namespace convoke::pictures
