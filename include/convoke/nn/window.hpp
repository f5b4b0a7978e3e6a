#pragma once
#include <cstdint>

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

/// Padding of an image: "valid" (none), "same" (output = ceil(input / stride), an odd pixel at the end, as in
/// Keras), explicit, or for sequences "causal" (all padding at the start, so that no output sees later
/// input).
struct Padding {
  enum class Kind { kValid, kSame, kCausal, kExplicit };
  Kind kind = Kind::kValid;
  Extent before{0};  ///< top, left; 0 unless explicit
  Extent after{0};   ///< bottom, right

  static Padding valid() { return {}; }
  static Padding same() { return {Kind::kSame, 0, 0}; }
  static Padding causal() { return {Kind::kCausal, 0, 0}; }
  static Padding by(Extent around) { return {Kind::kExplicit, around, around}; }
  static Padding by(Extent before, Extent after) { return {Kind::kExplicit, before, after}; }
  friend bool operator==(const Padding&, const Padding&) = default;
};

/// How windows are counted: kFloor counts all that fit; kCeil also counts one that extends beyond the end if
/// it begins inside the image or the padding before it, as PyTorch's ceil_mode does.
enum class Rounding { kFloor, kCeil };

/// One axis of a sliding window.
struct Window {
  std::int64_t output = 0;
  std::int64_t before = 0;  ///< padding
  std::int64_t after = 0;
};
Window slide(std::int64_t input, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
             Padding::Kind padding, std::int64_t before, std::int64_t after,
             Rounding rounding = Rounding::kFloor);

/// The positions [begin, end) of window `o` of an adaptive pooling, as in PyTorch.
struct AdaptiveWindow {
  std::int64_t begin, end;
  [[gnu::always_inline]] AdaptiveWindow(std::int64_t o, std::int64_t inputs, std::int64_t outputs)
      : begin(o * inputs / outputs), end(((o + 1) * inputs + outputs - 1) / outputs) {}
};

/// Returns the image (F, 1, L) as which a sequence (L, F) is stored. Throws Error if the shape is not a
/// sequence.
Shape as_image(const Shape& sequence);

/// Both axes of a window over `input` (C, H, W). slide() throws Error if the input is not an image or the
/// window does not fit.
struct Window2d {
  Window height;
  Window width;
};
Window2d slide(const Shape& input, Extent kernel, Extent stride, Extent dilation, const Padding& padding,
               Rounding rounding = Rounding::kFloor);
/// Returns the window along a sequence (L, F).
Window slide_sequence(const Shape& input, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                      const Padding& padding, Rounding rounding = Rounding::kFloor);
/// Throws Error if the input is not an image.
void require_image(const Shape& input);

/// Rows and columns at the four sides of an image.
struct Border {
  Extent before{0};  ///< top, left
  Extent after{0};   ///< bottom, right
  Border() = default;
  Border(Extent around) : before(around), after(around) {}  // NOLINT: `zero_pad(x, Extent(1))`
  Border(std::int64_t around) : Border(Extent(around)) {}   // NOLINT: `zero_pad(x, 1)`
  Border(Extent first, Extent last) : before(first), after(last) {}
};

/// Returns the padding of a window that also covers a border of zeroes. `own` must not be "same".
Padding padded_by(const Padding& own, const Border& border);

}  // namespace convoke::nn
