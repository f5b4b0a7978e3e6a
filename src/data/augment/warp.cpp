#include "convoke/data/warp.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "convoke/core/error.hpp"
#include "convoke/core/multiversion.hpp"
#include "convoke/core/table.hpp"

namespace convoke::data {

AffineMap operator*(const AffineMap& a, const AffineMap& b) {
  return {.yy = a.yy * b.yy + a.yx * b.xy,
          .yx = a.yy * b.yx + a.yx * b.xx,
          .y0 = a.yy * b.y0 + a.yx * b.x0 + a.y0,
          .xy = a.xy * b.yy + a.xx * b.xy,
          .xx = a.xy * b.yx + a.xx * b.xx,
          .x0 = a.xy * b.y0 + a.xx * b.x0 + a.x0};
}

//   p -> c + M (p - c) + shift
AffineMap about(const AffineMap& map, double y, double x) {
  AffineMap moved = map;
  moved.y0 += y - (map.yy * y + map.yx * x);
  moved.x0 += x - (map.xy * y + map.xx * x);
  return moved;
}

// Keras multiplies, in coordinates (x, y, 1):
//
//   | cos -sin 0 |   | 1 0 tx |   | 1 -sin s 0 |   | zx  0 0 |
//   | sin  cos 0 | . | 0 1 ty | . | 0  cos s 0 | . |  0 zy 0 |
//   |  0    0  1 |   | 0 0 1  |   | 0    0   1 |   |  0  0 1 |
AffineMap affine_map(const AffineTransform& transform, double height, double width) {
  constexpr double kDegree = std::numbers::pi / 180;
  const double cos = std::cos(transform.theta * kDegree), sin = std::sin(transform.theta * kDegree);
  const double slant = std::sin(transform.shear * kDegree), shrink = std::cos(transform.shear * kDegree);
  const AffineMap rotation{.yy = cos, .yx = sin, .xy = -sin, .xx = cos};
  const AffineMap shift{.y0 = transform.ty, .x0 = transform.tx};
  const AffineMap shear{.yy = shrink, .xy = -slant};
  const AffineMap zoom{.yy = transform.zy, .xx = transform.zx};
  return about(rotation * shift * shear * zoom, height / 2 - 0.5, width / 2 - 0.5);
}

AffineMap horizontal_flip(double width) { return {.xx = -1, .x0 = width - 1}; }
AffineMap vertical_flip(double height) { return {.yy = -1, .y0 = height - 1}; }

//   source = start + (p + 1/2) size / extent - 1/2
AffineMap crop(const Rectangle& rectangle, double height, double width) {
  const double y = rectangle.height / height, x = rectangle.width / width;
  return {.yy = y, .y0 = rectangle.top + y / 2 - 0.5, .xx = x, .x0 = rectangle.left + x / 2 - 0.5};
}

namespace {

constexpr std::array kFillModes{
    Named<FillMode>{"nearest", FillMode::kNearest}, Named<FillMode>{"constant", FillMode::kConstant},
    Named<FillMode>{"reflect", FillMode::kReflect}, Named<FillMode>{"wrap", FillMode::kWrap}};

/// Number of output pixels in one block; their data stays in the first-level cache.
constexpr std::size_t kBlock = 256;

/// For up to kBlock output pixels of one row: the first of the four source pixels around each place, and the
/// distance of the place from it.
struct Places {
  alignas(64) std::array<std::int32_t, kBlock> first;  ///< row * width + column
  alignas(64) std::array<float, kBlock> down, right;   ///< 0..1
  alignas(64) std::array<float, kBlock> inside;        ///< 1, or 0 beyond the edges
};

/// A row of the output: its places are (y + step_y i, x + step_x i).
struct Line {
  float y, x, step_y, step_x;
  std::int32_t height, width;  ///< of the source
};

// Maps coordinate t of an axis of n pixels back to 0..n-1.

template <FillMode mode>
[[gnu::always_inline]] inline float into_range(float t, float n) {
  if constexpr (mode == FillMode::kReflect) {
    const float u = t + 0.5F, turn = u - 2 * n * std::floor(u / (2 * n));
    t = std::min(turn, 2 * n - turn) - 0.5F;
  } else if constexpr (mode == FillMode::kWrap) {
    const float period = std::max(n - 1, 1.0F);
    const float back = t < 0 ? std::floor(-t / period) + 1 : t > n - 1 ? -std::floor(t / period) : 0.0F;
    t += period * back;
  }
  return std::min(std::max(t, 0.0F), n - 1);
}

template <FillMode mode>
[[gnu::always_inline]] inline void place_by(const Line& line, std::size_t from, std::size_t count,
                                            Places& places) {
  const auto height = static_cast<float>(line.height), width = static_cast<float>(line.width);
  const std::int32_t last_row = std::max(line.height - 2, 0), last_column = std::max(line.width - 2, 0);
  constexpr float kEdge = 1e-4F;  // tolerance for the rounding of coordinates
  const Line l = line;
  for (std::size_t i = 0; i < count; ++i) {
    const auto p = static_cast<float>(static_cast<std::int32_t>(from + i));
    const float y = l.y + l.step_y * p, x = l.x + l.step_x * p;
    const float row = into_range<mode>(y, height), column = into_range<mode>(x, width);
    const std::int32_t top = std::min(static_cast<std::int32_t>(row), last_row);
    const std::int32_t left = std::min(static_cast<std::int32_t>(column), last_column);
    places.first[i] = top * l.width + left;
    places.down[i] = row - static_cast<float>(top);
    places.right[i] = column - static_cast<float>(left);
    if constexpr (mode == FillMode::kConstant) {
      const float beyond = std::max(std::max(-y, y - (height - 1)), std::max(-x, x - (width - 1)));
      places.inside[i] = beyond <= kEdge ? 1.0F : 0.0F;
    }
  }
}

CONVOKE_MULTIVERSION
void place(FillMode mode, const Line& line, std::size_t from, std::size_t count, Places& places) {
  switch (mode) {
    case FillMode::kNearest:
      return place_by<FillMode::kNearest>(line, from, count, places);
    case FillMode::kConstant:
      return place_by<FillMode::kConstant>(line, from, count, places);
    case FillMode::kReflect:
      return place_by<FillMode::kReflect>(line, from, count, places);
    case FillMode::kWrap:
      return place_by<FillMode::kWrap>(line, from, count, places);
  }
}

/// A pixel of three bytes and its right neighbor: a0 a1 a2 b0, b1 b2.
struct Pairs {
  alignas(64) std::array<std::uint32_t, kBlock> low, high;
};

// Reads two pixels with one read of eight bytes, which begins earlier at the end of the image.
void read_pairs(const std::uint8_t* image, std::size_t bytes, const std::int32_t* first, std::size_t beyond,
                std::size_t count, Pairs& pairs) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t wanted = 3 * (static_cast<std::size_t>(first[i]) + beyond);
    const std::size_t start = std::min(wanted, bytes - 8);
    std::uint64_t word = 0;
    std::memcpy(&word, image + start, 8);
    word >>= 8 * (wanted - start);
    pairs.low[i] = static_cast<std::uint32_t>(word);
    pairs.high[i] = static_cast<std::uint32_t>(word >> 32);
  }
}

[[gnu::always_inline]] inline float byte_of(std::uint32_t word, int byte) {
  return static_cast<float>(static_cast<std::int32_t>(word >> (8 * byte) & 255));
}
[[gnu::always_inline]] inline float between(float a, float b, float part) { return a + part * (b - a); }

using Values = std::array<float, kBlock>;

//   v = (1-d) ((1-r) p00 + r p01) + d ((1-r) p10 + r p11)
CONVOKE_MULTIVERSION
void interpolate_pairs(const Pairs& top, const Pairs& bottom, const Places& places, std::size_t count,
                       Values* values) {
  for (std::size_t i = 0; i < count; ++i) {
    const float right = places.right[i], down = places.down[i];
    const std::uint32_t a = top.low[i], b = top.high[i], c = bottom.low[i], d = bottom.high[i];
    values[0][i] = between(between(byte_of(a, 0), byte_of(a, 3), right),
                           between(byte_of(c, 0), byte_of(c, 3), right), down);
    values[1][i] = between(between(byte_of(a, 1), byte_of(b, 0), right),
                           between(byte_of(c, 1), byte_of(d, 0), right), down);
    values[2][i] = between(between(byte_of(a, 2), byte_of(b, 1), right),
                           between(byte_of(c, 2), byte_of(d, 1), right), down);
  }
}

// Works channel by channel, for any number of channels; `image` begins with the channel. The neighbors are
// `right` and `down` values further, 0 if the axis has only one pixel.
template <class T>
[[gnu::always_inline]] inline void interpolate_channel(const T* image, std::size_t channels,
                                                       std::size_t right, std::size_t down,
                                                       const Places& places, std::size_t count,
                                                       Values& values) {
  for (std::size_t i = 0; i < count; ++i) {
    const T* const at = image + static_cast<std::size_t>(places.first[i]) * channels;
    const float top = between(static_cast<float>(at[0]), static_cast<float>(at[right]), places.right[i]);
    const float bottom =
        between(static_cast<float>(at[down]), static_cast<float>(at[down + right]), places.right[i]);
    values[i] = between(top, bottom, places.down[i]);
  }
}
CONVOKE_MULTIVERSION
void interpolate(const std::uint8_t* image, std::size_t channels, std::size_t right, std::size_t down,
                 const Places& places, std::size_t count, Values& values) {
  interpolate_channel(image, channels, right, down, places, count, values);
}
CONVOKE_MULTIVERSION
void interpolate(const float* image, std::size_t channels, std::size_t right, std::size_t down,
                 const Places& places, std::size_t count, Values& values) {
  interpolate_channel(image, channels, right, down, places, count, values);
}

CONVOKE_MULTIVERSION
void fill_outside(const Values& inside, float fill, std::size_t count, Values& values) {
  for (std::size_t i = 0; i < count; ++i) values[i] = inside[i] != 0 ? values[i] : fill;
}

//   out = scale clamp(gain v, 0, highest) + shift
CONVOKE_MULTIVERSION
void write_toned(const Values& values, std::size_t count, float scale, float shift, float gain, float highest,
                 float* out) {
  if (highest > 0) {
    for (std::size_t i = 0; i < count; ++i)
      out[i] = scale * std::min(std::max(gain * values[i], 0.0F), highest) + shift;
  } else {
    for (std::size_t i = 0; i < count; ++i) out[i] = scale * (gain * values[i]) + shift;
  }
}

bool pairs_can_be_read(const ImageView<std::uint8_t>& image) {
  return std::endian::native == std::endian::little && image.channels == 3 && image.width > 1 &&
         image.height * image.width * image.channels >= 8;
}

// Computes the values of a block's pixels, and calls `write(channel, values)` for each channel.
template <class T, class Write>
void take_block(const ImageView<T>& image, const Places& places, const Fill& fill, std::size_t count,
                const Write& write) {
  const auto width = static_cast<std::size_t>(image.width);
  const auto channels = static_cast<std::size_t>(image.channels);
  const std::size_t below = image.height > 1 ? width : 0;
  const auto finish = [&](std::size_t channel, Values& values) {
    if (fill.mode == FillMode::kConstant) fill_outside(places.inside, fill.value, count, values);
    write(channel, values);
  };
  alignas(64) std::array<Values, 3> values;
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    if (pairs_can_be_read(image)) {
      const std::size_t bytes = static_cast<std::size_t>(image.height) * width * channels;
      Pairs top, bottom;
      read_pairs(image.pixels, bytes, places.first.data(), 0, count, top);
      read_pairs(image.pixels, bytes, places.first.data(), below, count, bottom);
      interpolate_pairs(top, bottom, places, count, values.data());
      for (std::size_t c = 0; c < 3; ++c) finish(c, values[c]);
      return;
    }
  }
  for (std::size_t c = 0; c < channels; ++c) {
    interpolate(image.pixels + c, channels, width > 1 ? channels : 0, below * channels, places, count,
                values[0]);
    finish(c, values[0]);
  }
}

// A turned row crosses many rows of the source, which the hardware prefetcher does not follow. An image that
// fits into the second-level cache is therefore read from end to end first: 2.3 times as fast for 224 x 224 x
// 3 from memory.
void prefetch_image(const void* image, std::size_t bytes) {
  constexpr std::size_t kFits = 512 << 10, kLine = 64;
  if (bytes > kFits) return;
  unsigned sum = 0;
  for (std::size_t at = 0; at < bytes; at += kLine) sum += static_cast<const unsigned char*>(image)[at];
  [[maybe_unused]] volatile unsigned kept = sum;  // or the compiler would drop the reads
}

// Calls `write(channel, values, first pixel of the output, count)` for each block.
template <class T, class Write>
void warp_blocks(const ImageView<T>& image, const AffineMap& map, const Fill& fill, std::int64_t height,
                 std::int64_t width, const Write& write) {
  ensure(image.height > 0 && image.width > 0 && image.channels > 0, "an image has pixels");
  prefetch_image(image.pixels,
                 static_cast<std::size_t>(image.height * image.width * image.channels) * sizeof(T));
  Places places;
  const auto columns = static_cast<std::size_t>(width);
  for (std::int64_t row = 0; row < height; ++row) {
    const auto y = static_cast<double>(row);
    const Line line{.y = static_cast<float>(map.yy * y + map.y0),
                    .x = static_cast<float>(map.xy * y + map.x0),
                    .step_y = static_cast<float>(map.yx),
                    .step_x = static_cast<float>(map.xx),
                    .height = static_cast<std::int32_t>(image.height),
                    .width = static_cast<std::int32_t>(image.width)};
    for (std::size_t from = 0; from < columns; from += kBlock) {
      const std::size_t count = std::min(kBlock, columns - from);
      place(fill.mode, line, from, count, places);
      take_block(image, places, fill, count, [&](std::size_t channel, const Values& values) {
        write(channel, values, static_cast<std::size_t>(row) * columns + from, count);
      });
    }
  }
}

template <class T>
void warp_toned(const ImageView<T>& image, const AffineMap& map, const Fill& fill, const Tone& tone,
                std::int64_t height, std::int64_t width, float* out) {
  const auto plane = static_cast<std::size_t>(height * width);
  warp_blocks(image, map, fill, height, width,
              [&](std::size_t channel, const Values& values, std::size_t first, std::size_t count) {
                write_toned(values, count, tone.scale[channel], tone.shift[channel], tone.gain, tone.highest,
                            out + channel * plane + first);
              });
}

}  // namespace

FillMode fill_mode_from(std::string_view name) { return find_in(kFillModes, name, "fill mode").value; }

std::string_view name_of(FillMode mode) { return kFillModes[static_cast<std::size_t>(mode)].name; }

void warp(const ImageView<std::uint8_t>& image, const AffineMap& map, const Fill& fill, const Tone& tone,
          std::int64_t height, std::int64_t width, float* out) {
  warp_toned(image, map, fill, tone, height, width, out);
}
void warp(const ImageView<float>& image, const AffineMap& map, const Fill& fill, const Tone& tone,
          std::int64_t height, std::int64_t width, float* out) {
  warp_toned(image, map, fill, tone, height, width, out);
}

}  // namespace convoke::data
