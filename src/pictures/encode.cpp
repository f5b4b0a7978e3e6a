#include "convoke/pictures/encode.hpp"

#include <zlib.h>

#include <cstdlib>
#include <new>

namespace {

// stb's deflate would make files a fifth larger. stb frees the result.
unsigned char* compress_by_zlib(unsigned char* data, int size, int* out_size, int /*quality*/) {
  uLongf bound = compressBound(static_cast<uLong>(size));
  auto* out = static_cast<unsigned char*>(std::malloc(bound));
  if (out == nullptr || compress2(out, &bound, data, static_cast<uLong>(size), Z_BEST_COMPRESSION) != Z_OK) {
    std::free(out);
    throw std::bad_alloc();
  }
  *out_size = static_cast<int>(bound);
  return out;
}

}  // namespace

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#define STBIW_ZLIB_COMPRESS compress_by_zlib
#include <stb/stb_image_write.h>

#include "convoke/core/error.hpp"

namespace convoke::pictures {
namespace {

using Bytes = std::vector<std::uint8_t>;

void append(void* bytes, void* data, int size) {
  const auto* begin = static_cast<const std::uint8_t*>(data);
  static_cast<Bytes*>(bytes)->insert(static_cast<Bytes*>(bytes)->end(), begin, begin + size);
}

int channels_of(std::span<const std::uint8_t> pixels, const PictureSize& size) {
  const std::int64_t channels = std::ssize(pixels) / (size.height * size.width);
  ensure((channels == 1 || channels == 3) && channels * size.height * size.width == std::ssize(pixels),
         "a picture has height x width x 1 or 3 values");
  return static_cast<int>(channels);
}

}  // namespace

Bytes encode_png(std::span<const std::uint8_t> pixels, const PictureSize& size) {
  const int channels = channels_of(pixels, size);
  const auto width = static_cast<int>(size.width);
  Bytes bytes;
  if (stbi_write_png_to_func(append, &bytes, width, static_cast<int>(size.height), channels, pixels.data(),
                             width * channels) == 0)
    throw std::bad_alloc();
  return bytes;
}

Bytes encode_jpeg(std::span<const std::uint8_t> pixels, const PictureSize& size, int quality) {
  Bytes bytes;
  if (stbi_write_jpg_to_func(append, &bytes, static_cast<int>(size.width), static_cast<int>(size.height),
                             channels_of(pixels, size), pixels.data(), quality) == 0)
    throw std::bad_alloc();
  return bytes;
}

}  // namespace convoke::pictures
