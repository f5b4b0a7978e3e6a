#include "convoke/data_prep/files/picture_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace convoke::data_prep {
namespace {

std::string lower_ending(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

// Returns the number of bytes of the UTF-8 character at the start of `text`; 0 if there is no valid one (RFC
// 3629).
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
  if (byte(0) < 0x80) return 1;
  if (byte(0) >= 0xC2 && byte(0) <= 0xDF) return follows(1) ? 2 : 0;
  if (byte(0) >= 0xE0 && byte(0) <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    const bool overlong = byte(0) == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = byte(0) == 0xED && byte(1) >= 0xA0;
    return overlong || surrogate ? 0 : 3;
  }
  if (byte(0) >= 0xF0 && byte(0) <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    const bool overlong = byte(0) == 0xF0 && byte(1) < 0x90;
    const bool beyond = byte(0) == 0xF4 && byte(1) >= 0x90;
    return overlong || beyond ? 0 : 4;
  }
  return 0;
}

}  // namespace

bool is_picture_name(const std::filesystem::path& file) {
  const std::string ending = lower_ending(file);
  return std::find(kPictureEndings.begin(), kPictureEndings.end(), ending) != kPictureEndings.end();
}

bool is_foreign_picture_name(const std::filesystem::path& file) {
  constexpr std::array<std::string_view, 9> kEndings{".gif",  ".tif",  ".tiff", ".webp", ".avif",
                                                     ".heic", ".heif", ".jp2",  ".ppm"};
  const std::string ending = lower_ending(file);
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

std::string printable(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const auto first = static_cast<unsigned char>(name[0]);
    const bool control = first < 0x20 || first == 0x7F || name.starts_with("\\x");
    const std::size_t bytes = control ? 0 : character_bytes(name);
    if (bytes == 0) {
      text += fmt::format("\\x{:02X}", first);
      name.remove_prefix(1);
    } else {
      text += name.substr(0, bytes);
      name.remove_prefix(bytes);
    }
  }
  return text;
}

}  // namespace convoke::data_prep
