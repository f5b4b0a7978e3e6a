#include "synthesize/picture_file.hpp"

#include <fmt/format.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"

namespace convoke::data_prep {
namespace {

constexpr std::string_view kComment = "synthetic: made by convoke synthesize";
constexpr int kJpegQuality = 92;

void append(void* bytes, void* data, int size) {
  static_cast<std::string*>(bytes)->append(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(value >> shift & 0xFF));
  return bytes;
}

// Puts a tEXt chunk after the header: length, name, keyword, 0, text, CRC of all but the length.
std::string png(const Image& image) {
  std::string bytes;
  const auto height = static_cast<int>(image.height), width = static_cast<int>(image.width);
  stbi_write_png_to_func(append, &bytes, width, height, 3, image.values.data(), 3 * width);
  std::string chunk = std::string("tEXtComment") + '\0' + std::string(kComment);
  const auto length = static_cast<std::uint32_t>(chunk.size() - 4);
  chunk += big_endian(crc32(std::as_bytes(std::span(chunk))));
  constexpr std::size_t kBehindHeader = 8 + 25;
  return bytes.insert(kBehindHeader, big_endian(length) + chunk);
}

// Puts a comment segment after the start: ff fe, length including itself, text.
std::string jpeg(const Image& image) {
  std::string bytes;
  stbi_write_jpg_to_func(append, &bytes, static_cast<int>(image.width), static_cast<int>(image.height), 3,
                         image.values.data(), kJpegQuality);
  const std::string length = big_endian(static_cast<std::uint32_t>(kComment.size() + 2)).substr(2);
  return bytes.insert(2, "\xFF\xFE" + length + std::string(kComment));
}

}  // namespace

void write_synthetic_picture(const std::filesystem::path& file, const Image& image) {
  ensure(image.channels == 3, "a synthetic picture is RGB");
  const std::string bytes = file.extension() == ".png" ? png(image) : jpeg(image);
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << bytes;
  out.close();
  if (!out) {
    throw Error(
        fmt::format("{}: cannot be written: {}", file.string(), std::generic_category().message(errno)));
  }
}

}  // namespace convoke::data_prep
