#pragma once
#include <cstddef>
#include <cstdint>

namespace convoke::data {

/// Converts an image from the stored layout to the one that networks see: out[c][p] = scale[c] x[p][c] +
/// shift[c].
/// x: (pixels, channels), out: (channels, pixels).
void convert_image(const std::uint8_t* x, float* out, std::size_t pixels, std::size_t channels,
                   const float* scale, const float* shift);
void convert_image(const float* x, float* out, std::size_t pixels, std::size_t channels, const float* scale,
                   const float* shift);

/// out[c] = in[channels - 1 - c], in place.   image: (channels, pixels)
void reverse_channels(float* image, std::size_t pixels, std::size_t channels);

/// out[r][f] = scale[f] x[r][f] + shift[f].   x, out: (rows, features)
void convert_features(const float* x, float* out, std::size_t rows, std::size_t features, const float* scale,
                      const float* shift);

}  // namespace convoke::data
