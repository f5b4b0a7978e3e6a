#include "convoke/pictures/decode.hpp"

#include <fmt/format.h>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_MAX_DIMENSIONS 20000
#include <stb/stb_image.h>

#include <cassert>
#include <memory>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/file.hpp"
#include "pictures/color.hpp"
#include "pictures/header.hpp"
#include "pictures/jpeg.hpp"

namespace convoke::pictures {
namespace {

std::span<const std::uint8_t> as_numbers(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

PictureHeader checked_header(std::span<const std::byte> encoded, const std::string& name) {
  const PictureHeader header = read_header(as_numbers(encoded), name);
  const auto [height, width] = header.stored;
  if (height > kLongestSide || width > kLongestSide || height * width > kMostPixels) {
    throw Error(fmt::format("{}: is too large, {} x {} pixels: the limit is {} per side and {} in total",
                            name, height, width, format_count(kLongestSide), format_count(kMostPixels)),
                "make it smaller, or remove it");
  }
  return header;
}

Image decode_with_stb(std::span<const std::byte> encoded, const std::string& name) {
  int width = 0, height = 0, stored = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> values(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(encoded.data()),
                            static_cast<int>(encoded.size()), &width, &height, &stored, 0),
      stbi_image_free);
  if (values == nullptr) {
    throw Error(fmt::format("{}: cannot be decoded: {}", name, stbi_failure_reason()));
  }
  Image image{height, width, stored, {}};
  image.values.assign(values.get(), values.get() + image.height * image.width * image.channels);
  return image;
}

}  // namespace

PictureShape picture_shape(std::span<const std::byte> encoded, const std::string& name) {
  const PictureHeader header = checked_header(encoded, name);
  return {header.upright(), header.channels()};
}

Image decode_picture(std::span<const std::byte> encoded, const std::string& name, std::int64_t channels,
                     const PictureSize& enough) {
  const PictureHeader header = checked_header(encoded, name);
  Image image;
  if (header.kind == PictureKind::kJpeg && has_libjpeg()) {
    const PictureSize stored =
        swaps_axes(header.orientation) ? PictureSize{enough.width, enough.height} : enough;
    image = decode_jpeg(as_numbers(encoded), header, stored, name);
    if (image.channels == 4) image = rgb_of_inverted_cmyk(image);
  } else {
    image = decode_with_stb(encoded, name);
  }
  return upright(to_channels(std::move(image), channels), header.orientation);
}

std::vector<std::byte> read_encoded(const std::filesystem::path& file) {
  constexpr std::uint64_t kMostBytes = (std::uint64_t{1} << 31) - 1;
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    throw Error(fmt::format("{}: is a folder, not a picture", file.string()),
                fmt::format("name the pictures in it: {}/*.png", file.string()));
  }
  const os::File in(file, os::Access::kRead);
  const std::uint64_t size = in.size();
  if (size > kMostBytes) {
    throw Error(fmt::format("{}: is too large for a picture, {}", file.string(), format_bytes(size)));
  }
  std::vector<std::byte> bytes(size);
  in.read_at(0, bytes);
  return bytes;
}

}  // namespace convoke::pictures
