#include "pictures/header.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "convoke/core/error.hpp"
#include "pictures/color.hpp"

namespace convoke::pictures {
namespace {

using Bytes = std::span<const std::uint8_t>;

[[noreturn]] void refuse(const std::string& name, std::string_view why) {
  throw Error(fmt::format("{}: cannot be decoded: {}", name, why));
}

std::uint32_t big_endian(Bytes bytes) {
  std::uint32_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

std::uint32_t little_endian(Bytes bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) value = value << 8 | bytes[i - 1];
  return value;
}

bool starts_with(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() &&
         std::equal(text.begin(), text.end(), bytes.begin(),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

// Reads the segments up to the start of the scan: ff, kind, length in 2 bytes (which include these bytes).
// After it there must be an end marker, ff d9 (an embedded thumbnail before it has its own).
PictureHeader jpeg_header(Bytes file, const std::string& name) {
  constexpr std::uint8_t kStartOfScan = 0xDA, kApp1 = 0xE1;
  constexpr std::string_view kExif{"Exif\0\0", 6};
  PictureHeader header{.kind = PictureKind::kJpeg};
  bool exif = false;
  std::size_t at = 2;
  for (;;) {
    while (at < file.size() && file[at] != 0xFF) ++at;  // skips foreign bytes
    while (at + 1 < file.size() && file[at + 1] == 0xFF) ++at;
    if (at + 4 > file.size()) refuse(name, "the JPEG is truncated");
    const std::uint8_t kind = file[at + 1];
    if (kind == kStartOfScan) break;
    if (kind == 0x00 || kind == 0x01 || (kind >= 0xD0 && kind <= 0xD8)) {  // markers without a length
      at += 2;
      continue;
    }
    const std::size_t length = big_endian(file.subspan(at + 2, 2));
    if (length < 2 || at + 2 + length > file.size()) refuse(name, "the JPEG is truncated");
    const Bytes segment = file.subspan(at + 4, length - 2);
    // Start of frame: precision, height, width, components. (c4: Huffman tables, c8: reserved, cc:
    // arithmetic)
    const bool frame = kind >= 0xC0 && kind <= 0xCF && kind != 0xC4 && kind != 0xC8 && kind != 0xCC;
    if (frame && segment.size() >= 6) {
      header.stored = {big_endian(segment.subspan(1, 2)), big_endian(segment.subspan(3, 2))};
      header.components = segment[5];
    } else if (kind == kApp1 && starts_with(segment, kExif)) {
      if (!exif) header.orientation = exif_orientation(segment.subspan(kExif.size()));
      exif = true;  // the first one counts
    }
    at += 2 + length;
  }
  constexpr std::array<std::uint8_t, 2> kEnd{0xFF, 0xD9};
  const auto end =
      std::find_end(file.begin() + static_cast<std::ptrdiff_t>(at), file.end(), kEnd.begin(), kEnd.end());
  header.whole = end != file.end();
  return header;
}

// Chunks: length, kind, data, CRC-32 of kind and data; the last is IEND. https://www.w3.org/TR/png-3
PictureHeader png_header(Bytes file, const std::string& name) {
  PictureHeader header{.kind = PictureKind::kPng, .whole = false};
  bool transparent = false;
  for (std::size_t at = 8; at + 12 <= file.size();) {
    const std::size_t length = big_endian(file.subspan(at, 4));
    if (length > file.size() - at - 12) break;
    const Bytes kind = file.subspan(at + 4, 4);
    const Bytes data = file.subspan(at + 8, length);
    const bool critical = (kind[0] & 0x20) == 0;
    const auto sum = static_cast<std::uint32_t>(
        crc32(crc32(0, nullptr, 0), kind.data(), static_cast<unsigned>(4 + length)));
    if (critical && sum != big_endian(file.subspan(at + 8 + length, 4))) {
      refuse(name, fmt::format("the checksum of the PNG's chunk {} is wrong",
                               std::string(kind.begin(), kind.end())));
    }
    if (starts_with(kind, "IHDR") && length >= 13) {
      header.stored = {big_endian(data.subspan(4, 4)), big_endian(data.subspan(0, 4))};
      const int color = data[9];  // 1: palette, 2: color, 4: alpha
      header.components = ((color & 2) != 0 ? 3 : 1) + ((color & 4) != 0 ? 1 : 0);
    } else if (starts_with(kind, "tRNS")) {
      transparent = true;
    } else if (starts_with(kind, "eXIf")) {
      header.orientation = exif_orientation(data);
    }
    header.whole = starts_with(kind, "IEND");
    if (header.whole) break;
    at += 12 + length;
  }
  if (transparent && header.components % 2 == 1) ++header.components;
  return header;
}

// 14 bytes of file header, then an information header of 12 (OS/2), 40 or more bytes. Rows are padded to 4
// bytes.
PictureHeader bmp_header(Bytes file, const std::string& name) {
  const bool os2 = file.size() >= 26 && little_endian(file.subspan(14, 4)) == 12;
  if (!os2 && file.size() < 34) refuse(name, "the BMP is truncated");
  const std::uint64_t pixels = little_endian(file.subspan(10, 4));
  const auto number = [&](std::size_t at, std::size_t bytes) {  // of 4 bytes: rows from the top down are < 0
    return static_cast<std::int32_t>(little_endian(file.subspan(at, bytes)));
  };
  const std::int64_t width = os2 ? number(18, 2) : number(18, 4);
  const std::int64_t height = os2 ? number(20, 2) : number(22, 4);
  const std::uint64_t bits = little_endian(file.subspan(os2 ? 24 : 28, 2));
  const std::uint32_t compression = os2 ? 0 : little_endian(file.subspan(30, 4));
  PictureHeader header{.kind = PictureKind::kBmp, .stored = {std::abs(height), width}, .components = 3};
  if (compression == 1 || compression == 2) refuse(name, "the BMP is run-length encoded");
  if (os2 && bits < 24) refuse(name, "the BMP has a palette of OS/2");
  const std::uint64_t row = (static_cast<std::uint64_t>(std::max<std::int64_t>(width, 0)) * bits + 7) / 8;
  const std::uint64_t rows = static_cast<std::uint64_t>(std::abs(height));
  const std::uint64_t needed = rows == 0 ? 0 : pixels + (rows - 1) * ((row + 3) / 4 * 4) + row;
  header.whole = file.size() >= needed;
  return header;
}

}  // namespace

PictureSize PictureHeader::upright() const {
  return swaps_axes(orientation) ? PictureSize{stored.width, stored.height} : stored;
}

PictureHeader read_header(Bytes encoded, const std::string& name) {
  PictureHeader header;
  const char* format = nullptr;
  if (starts_with(encoded, "\xFF\xD8\xFF")) {
    format = "JPEG";
    header = jpeg_header(encoded, name);
  } else if (starts_with(encoded, "\x89PNG\r\n\x1A\n")) {
    format = "PNG";
    header = png_header(encoded, name);
  } else if (starts_with(encoded, "BM")) {
    format = "BMP";
    header = bmp_header(encoded, name);
  } else if (encoded.empty()) {
    refuse(name, "the file is empty");
  } else {
    refuse(name, "it is not a JPEG, PNG or BMP");
  }
  if (!header.whole) refuse(name, fmt::format("the {} is truncated", format));
  if (header.stored.height <= 0 || header.stored.width <= 0 || header.components < 1 ||
      header.components > 4) {
    refuse(name, fmt::format("the header of the {} gives {} x {} pixels of {} components", format,
                             header.stored.height, header.stored.width, header.components));
  }
  return header;
}

}  // namespace convoke::pictures
