#include "pictures/colour.hpp"

#include <cstddef>

#include "convoke/core/error.hpp"
#include "convoke/core/multiversion.hpp"

namespace convoke::data_prep {
namespace {

// All kernels work on n interleaved pixels.

CONVOKE_MULTIVERSION
void grey_of_rgb(const std::uint8_t* rgb, std::uint8_t* grey, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t sum = 19595U * rgb[3 * i] + 38470U * rgb[3 * i + 1] + 7471U * rgb[3 * i + 2];
    grey[i] = static_cast<std::uint8_t>((sum + 0x8000U) >> 16);
  }
}

CONVOKE_MULTIVERSION
void rgb_of_grey(const std::uint8_t* grey, std::uint8_t* rgb, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) rgb[3 * i] = rgb[3 * i + 1] = rgb[3 * i + 2] = grey[i];
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
  ensure(channels == 1 || channels == 3, "the target is grey or RGB");
  if (image.channels == 2 || image.channels == 4) {
    Image opaque = empty_like(image, image.channels - 1);
    drop_last(image.values.data(), static_cast<std::size_t>(image.channels), opaque.values.data(),
              pixels_of(image));
    image = std::move(opaque);
  }
  if (image.channels == channels) return image;
  Image converted = empty_like(image, channels);
  (channels == 1 ? grey_of_rgb : rgb_of_grey)(image.values.data(), converted.values.data(), pixels_of(image));
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

}  // namespace convoke::data_prep
