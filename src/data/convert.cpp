#include "convert.hpp"

#include <algorithm>

#include "convoke/core/multiversion.hpp"

namespace convoke::data {
namespace {

// The loops, as templates over the type T; below they are compiled for several instruction sets.

//   out[i] = scale x[i] + shift                          x, out: (n)
template <class T>
[[gnu::always_inline]] inline void convert_plane(const T* __restrict x, float* __restrict out, std::size_t n,
                                                 float scale, float shift) {
  for (std::size_t i = 0; i < n; ++i) out[i] = scale * static_cast<float>(x[i]) + shift;
}

//   out[c][p] = scale[c] x[p][c] + shift[c]              x: (pixels, 3), out: (3, pixels)
template <class T>
[[gnu::always_inline]] inline void convert_three(const T* __restrict x, float* __restrict out,
                                                 std::size_t pixels, const float* scale, const float* shift) {
  const float a0 = scale[0], a1 = scale[1], a2 = scale[2];
  const float b0 = shift[0], b1 = shift[1], b2 = shift[2];
  for (std::size_t p = 0; p < pixels; ++p) {
    out[p] = a0 * static_cast<float>(x[3 * p]) + b0;
    out[pixels + p] = a1 * static_cast<float>(x[3 * p + 1]) + b1;
    out[2 * pixels + p] = a2 * static_cast<float>(x[3 * p + 2]) + b2;
  }
}

//   out[p] = scale x[p][c] + shift                       one of any number of channels, x: (pixels, channels)
template <class T>
[[gnu::always_inline]] inline void convert_one_of(const T* __restrict x, float* __restrict out,
                                                  std::size_t pixels, std::size_t channels, float scale,
                                                  float shift) {
  for (std::size_t p = 0; p < pixels; ++p) out[p] = scale * static_cast<float>(x[p * channels]) + shift;
}

CONVOKE_MULTIVERSION
void convert(const std::uint8_t* x, float* out, std::size_t n, float scale, float shift) {
  convert_plane(x, out, n, scale, shift);
}
CONVOKE_MULTIVERSION
void convert(const float* x, float* out, std::size_t n, float scale, float shift) {
  convert_plane(x, out, n, scale, shift);
}
CONVOKE_MULTIVERSION
void convert3(const std::uint8_t* x, float* out, std::size_t pixels, const float* scale, const float* shift) {
  convert_three(x, out, pixels, scale, shift);
}
CONVOKE_MULTIVERSION
void convert3(const float* x, float* out, std::size_t pixels, const float* scale, const float* shift) {
  convert_three(x, out, pixels, scale, shift);
}
CONVOKE_MULTIVERSION
void convert_channel(const std::uint8_t* x, float* out, std::size_t pixels, std::size_t channels, float scale,
                     float shift) {
  convert_one_of(x, out, pixels, channels, scale, shift);
}
CONVOKE_MULTIVERSION
void convert_channel(const float* x, float* out, std::size_t pixels, std::size_t channels, float scale,
                     float shift) {
  convert_one_of(x, out, pixels, channels, scale, shift);
}

CONVOKE_MULTIVERSION
void convert_rows(const float* __restrict x, float* __restrict out, std::size_t rows, std::size_t features,
                  const float* __restrict scale, const float* __restrict shift) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t f = 0; f < features; ++f) {
      out[r * features + f] = scale[f] * x[r * features + f] + shift[f];
    }
  }
}

template <class T>
void convert_any(const T* in, float* out, std::size_t pixels, std::size_t channels, const float* scale,
                 const float* shift) {
  if (channels == 1) {  // (H, W, 1) and (1, H, W) are the same
    convert(in, out, pixels, scale[0], shift[0]);
  } else if (channels == 3) {
    convert3(in, out, pixels, scale, shift);
  } else {
    for (std::size_t c = 0; c < channels; ++c) {
      convert_channel(in + c, out + c * pixels, pixels, channels, scale[c], shift[c]);
    }
  }
}

}  // namespace

void convert_image(const std::uint8_t* x, float* out, std::size_t pixels, std::size_t channels,
                   const float* scale, const float* shift) {
  convert_any(x, out, pixels, channels, scale, shift);
}
void convert_image(const float* x, float* out, std::size_t pixels, std::size_t channels, const float* scale,
                   const float* shift) {
  convert_any(x, out, pixels, channels, scale, shift);
}

void reverse_channels(float* image, std::size_t pixels, std::size_t channels) {
  for (std::size_t c = 0; c < channels / 2; ++c) {
    float* const plane = image + c * pixels;
    std::swap_ranges(plane, plane + pixels, image + (channels - 1 - c) * pixels);
  }
}

void convert_features(const float* x, float* out, std::size_t rows, std::size_t features, const float* scale,
                      const float* shift) {
  convert_rows(x, out, rows, features, scale, shift);
}

}  // namespace convoke::data
