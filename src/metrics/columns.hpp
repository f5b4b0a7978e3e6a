#pragma once
#include <cstddef>
#include <string_view>

namespace convoke::metrics {

/// Returns the first `columns` characters of UTF-8 text.
inline std::string_view first_columns(std::string_view text, std::size_t columns) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts_character = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (starts_character && columns-- == 0) return text.substr(0, i);
  }
  return text;
}

}  // namespace convoke::metrics
