#pragma once
#include <cstdint>
#include <string>

#include "convoke/core/settings.hpp"
#include "convoke/core/shape.hpp"

namespace convoke::nn {

/// Height and width of a kernel, stride or dilation. `3` means 3 x 3.
struct Extent {
  std::int64_t height = 1;
  std::int64_t width = 1;
  Extent() = default;
  Extent(std::int64_t both) : height(both), width(both) {}  // NOLINT: `.kernel = 3`
  Extent(std::int64_t h, std::int64_t w) : height(h), width(w) {}
  friend bool operator==(const Extent&, const Extent&) = default;
};

/// Padding of an image: "valid" (none), "same" (output = ceil(input / stride), the odd pixel at the end, as
/// Keras) or explicit, symmetric.
struct Padding {
  enum class Kind { kValid, kSame, kExplicit };
  Kind kind = Kind::kValid;
  Extent amount{0};

  static Padding valid() { return {}; }
  static Padding same() { return {Kind::kSame, 0}; }
  static Padding by(Extent amount) { return {Kind::kExplicit, amount}; }
  friend bool operator==(const Padding&, const Padding&) = default;
};

/// One axis of a sliding window.
struct Window {
  std::int64_t output = 0;
  std::int64_t before = 0;  ///< padding
  std::int64_t after = 0;
};
Window slide(std::int64_t input, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
             const Padding& padding, std::int64_t amount);

/// Both axes of a window over `input` (C, H, W). Throws Error if the input is no image or the window does not
/// fit.
struct Window2d {
  Window height;
  Window width;
};
Window2d slide(const Shape& input, Extent kernel, Extent stride, Extent dilation, const Padding& padding);

/// Settings: a number, or [height, width]; >= `least`.
Extent read_extent(SettingsReader& read, std::string_view key, Extent fallback, std::int64_t least = 1);
Value write_extent(Extent extent);
/// Settings: "valid", "same", a number or [height, width].
Padding read_padding(SettingsReader& read, std::string_view key, Padding fallback);
Value write_padding(const Padding& padding);

}  // namespace convoke::nn
