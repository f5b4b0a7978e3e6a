#include "convoke/archive/zip_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"
#include "convoke/os/file.hpp"

namespace convoke::archive {
namespace {

// Little-endian numbers of 2 and 4 bytes.
std::string numbers16(std::initializer_list<std::uint32_t> values) {
  std::string bytes;
  for (const std::uint32_t value : values) {
    bytes += static_cast<char>(value & 0xFF);
    bytes += static_cast<char>(value >> 8 & 0xFF);
  }
  return bytes;
}
std::string numbers32(std::initializer_list<std::uint64_t> values) {
  std::string bytes;
  for (const std::uint64_t value : values)
    bytes += numbers16({static_cast<std::uint32_t>(value & 0xFFFF), static_cast<std::uint32_t>(value >> 16)});
  return bytes;
}

constexpr std::uint32_t kVersion = 20, kUtf8 = 1U << 11, kStored = 0, kTime = 0, kDate = 1 << 5 | 1;
constexpr std::uint64_t kMost = 0xFFFFFFFF;

// The fields that the header before the data and the central directory share.
std::string shared_fields(const ZipEntry& entry, std::uint32_t crc, std::uint64_t size) {
  return numbers16({kVersion, kUtf8, kStored, kTime, kDate}) + numbers32({crc, size, size}) +
         numbers16({static_cast<std::uint32_t>(entry.name.size()), 0});
}

template <class Take>
void in_pieces(const ZipEntry& entry, Take take) {
  if (entry.file.empty()) return take(std::as_bytes(std::span(entry.text)));
  const os::File file(entry.file, os::Access::kRead);
  std::vector<std::byte> piece(1U << 20);
  const std::uint64_t size = file.size();
  for (std::uint64_t at = 0; at < size; at += piece.size()) {
    piece.resize(std::min<std::uint64_t>(piece.size(), size - at));
    file.read_at(at, piece);
    take(std::span<const std::byte>(piece));
  }
}

}  // namespace

void write_zip(const std::filesystem::path& archive, std::span<const ZipEntry> entries) {
  os::File out(archive, os::Access::kTruncate);
  std::uint64_t at = 0;
  const auto write = [&](std::span<const std::byte> bytes) {
    out.write_at(at, bytes);
    at += bytes.size();
  };
  const auto write_text = [&](const std::string& text) { write(std::as_bytes(std::span(text))); };
  std::string directory;
  for (const ZipEntry& entry : entries) {
    std::uint32_t crc = 0;
    std::uint64_t size = 0;
    in_pieces(entry, [&](std::span<const std::byte> bytes) {
      crc = crc32(bytes, crc);
      size += bytes.size();
    });
    if (at + size > kMost) {
      throw Error(fmt::format("{}: the model exceeds 4 GiB, the limit of a zip archive", archive.string()),
                  "export it with --format h5");
    }
    directory += "PK\x01\x02" + numbers16({kVersion}) + shared_fields(entry, crc, size) +
                 numbers16({0, 0, 0}) + numbers32({0, at}) + entry.name;
    write_text("PK\x03\x04" + shared_fields(entry, crc, size) + entry.name);
    in_pieces(entry, write);
  }
  const auto count = static_cast<std::uint32_t>(entries.size());
  const std::string end =
      "PK\x05\x06" + numbers16({0, 0, count, count}) + numbers32({directory.size(), at}) + numbers16({0});
  write_text(directory);
  write_text(end);
  out.close();
}

}  // namespace convoke::archive
