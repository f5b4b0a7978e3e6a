#include "convoke/archive/tar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "convoke/core/error.hpp"

namespace convoke::archive {
namespace {

// An archive consists of blocks of 512 bytes: for each file a header, then the file's bytes, padded. Two
// blocks of zeros end the archive.
constexpr std::size_t kBlock = 512;
constexpr std::uint64_t kMostExtra = 1U << 20;  // bytes of a name or a list of attributes

using TarHeader = std::array<char, kBlock>;

struct Place {
  std::size_t offset, bytes;
};
constexpr Place kName{0, 100}, kSize{124, 12}, kChecksum{148, 8}, kMagic{257, 5}, kPrefix{345, 155};
constexpr std::size_t kType = 156;

std::string_view field(const TarHeader& header, Place place) {
  return {header.data() + place.offset, place.bytes};
}

// Returns the text up to the first zero, if there is one.
std::string text_in(std::string_view bytes) { return std::string(bytes.substr(0, bytes.find('\0'))); }

// Parses octal digits; if the first bit is set, a big-endian number.
std::optional<std::uint64_t> number_in(std::string_view bytes) {
  std::uint64_t value = 0;
  if ((static_cast<unsigned char>(bytes[0]) & 0x80) != 0) {
    for (std::size_t i = 1; i < bytes.size(); ++i) {
      if (value >> 55 != 0) return {};
      value = value << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return value;
  }
  bytes.remove_prefix(std::min(bytes.find_first_not_of(' '), bytes.size()));
  const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), value, 8);
  const bool ends = end == bytes.data() + bytes.size() || *end == ' ' || *end == '\0';
  return error == std::errc{} && ends ? std::optional(value) : std::nullopt;
}

// Checks the sum of the header's bytes, in which the checksum's own bytes count as blanks.
bool has_tar_checksum(const TarHeader& header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const bool own = i >= kChecksum.offset && i < kChecksum.offset + kChecksum.bytes;
    sum += own ? static_cast<unsigned char>(' ') : static_cast<unsigned char>(header[i]);
  }
  return number_in(field(header, kChecksum)) == sum;
}

/// Attributes before a header that apply to its file.
struct Extra {
  std::optional<std::string> name = {};
  std::optional<std::uint64_t> bytes = {};
};

// Parses lines "27 path=folder/long name
// "; the number is the length of the line in bytes.
bool read_pax(std::string_view list, Extra& extra) {
  while (!list.empty()) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(list.data(), list.data() + list.size(), length);
    const auto digits = static_cast<std::size_t>(end - list.data());
    if (error != std::errc{} || length > list.size() || length < digits + 3 || *end != ' ') return false;
    const std::string_view line = list.substr(digits + 1, length - digits - 2);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view key = line.substr(0, equals), value = line.substr(equals + 1);
    if (key == "path") extra.name = std::string(value);
    if (key == "size") {
      std::uint64_t bytes = 0;
      if (std::from_chars(value.data(), value.data() + value.size(), bytes).ec != std::errc{}) return false;
      extra.bytes = bytes;
    }
    list.remove_prefix(length);
  }
  return true;
}

}  // namespace

bool TarReader::next(TarMember& member) {
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("{}: {}", bytes_.name(), why), "get it again, and compare its size");
  };
  Extra extra;
  for (;;) {
    TarHeader header{};
    const std::size_t got = bytes_.read_some(at_, std::as_writable_bytes(std::span(header)));
    if (got < kBlock && at_ > 0) refuse("is truncated: its end mark is missing");
    if (got == kBlock && std::all_of(header.begin(), header.end(), [](char c) { return c == 0; }))
      return false;
    if (got < kBlock || !has_tar_checksum(header)) {
      if (at_ == 0) refuse("is not a tar archive");
      refuse(fmt::format("is damaged: there is no valid member at byte {}", at_));
    }
    const std::optional<std::uint64_t> size = number_in(field(header, kSize));
    const char type = header[kType];
    const bool regular = type == '0' || type == '\0' || type == '7';
    const std::uint64_t bytes = regular ? extra.bytes.value_or(size.value_or(0)) : size.value_or(0);
    if (!size || bytes > std::uint64_t{1} << 62)
      refuse(fmt::format("is damaged: there is no valid size at byte {}", at_));
    const std::uint64_t begin = at_ + kBlock;
    at_ = begin + (bytes + kBlock - 1) / kBlock * kBlock;

    if (type == 'L' || type == 'x') {
      if (bytes > kMostExtra)
        refuse(fmt::format("is damaged: the name at byte {} has {} bytes", begin, bytes));
      std::string text(bytes, '\0');
      bytes_.read(begin, std::as_writable_bytes(std::span(text)));
      if (type == 'L') extra.name = text_in(text);
      if (type == 'x' && !read_pax(text, extra))
        refuse(fmt::format("is damaged: the attributes at byte {} are invalid", begin));
    } else if (regular) {
      const std::string prefix = field(header, kMagic) == "ustar" ? text_in(field(header, kPrefix)) : "";
      const std::string name = text_in(field(header, kName));
      member.name = extra.name.value_or(prefix.empty() ? name : prefix + "/" + name);
      member.offset = begin;
      member.bytes = bytes;
      return true;
    } else if (type != 'K' && type != 'g') {  // else the extra attributes still apply to a later header
      extra = {};
    }
  }
}

}  // namespace convoke::archive
