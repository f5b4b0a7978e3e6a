#pragma once
#include <cstdint>
#include <vector>

namespace convoke::data_prep {

/// Height and width in pixels.
struct Extent {
  std::int64_t height = 0;
  std::int64_t width = 0;
  friend bool operator==(const Extent&, const Extent&) = default;
};

/// A decoded image: (H, W, C) bytes.
struct Image {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::vector<std::uint8_t> values = {};

  Extent extent() const { return {height, width}; }
};

}  // namespace convoke::data_prep
