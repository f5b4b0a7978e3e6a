#include "convoke/core/utf8.hpp"

#include <algorithm>

namespace convoke {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(text[i])) return 0;
  }
  const unsigned char second = byte(1);
  if (first == 0xE0 && second < 0xA0) return 0;
  if (first == 0xED && second > 0x9F) return 0;
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second > 0x8F) return 0;
  return length;
}

char32_t code_point(std::string_view text) {
  const std::size_t length = utf8_length(text);
  const auto first = static_cast<unsigned char>(text[0]);
  if (length == 1) return first;
  char32_t point = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  return point;
}

std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char first = text.front();
    if (first == '\n' || first == '\r' || first == '\t') {
      line += ' ';
    } else if (length == 0 || (first >= 0 && first < 0x20) || first == 0x7F) {
      line += kReplacementCharacter;
    } else {
      line += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return line;
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string shortened(std::string_view text, std::size_t characters) {
  if (character_count(text) <= characters) return std::string(text);
  std::size_t bytes = 0;
  for (std::size_t kept = 0; kept + 1 < characters; ++kept) {
    ++bytes;
    while (continues(text[bytes])) ++bytes;
  }
  return std::string(text.substr(0, bytes)) + "…";
}

}  // namespace convoke
