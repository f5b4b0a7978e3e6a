#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace convoke {

/// Replaces bytes that are not text: U+FFFD.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// Returns the length in bytes of the UTF-8 character at the start of `text`, which is not empty. Returns 0
/// for stray or missing continuation bytes, overlong forms, surrogates, and code points beyond U+10FFFF
/// (Unicode 15, table 3-7).
std::size_t utf8_length(std::string_view text);

/// Returns the code point of the valid UTF-8 character at the start of `text`.
char32_t code_point(std::string_view text);

/// Returns `text` as one line of UTF-8: line breaks and tabs become spaces, other control characters and
/// invalid bytes U+FFFD.
std::string one_line(std::string_view text);

/// Returns the number of characters (code points) of UTF-8 text.
std::size_t character_count(std::string_view text);

/// Returns `text`, shortened to so many characters if it has more; then "…" is the last one. UTF-8.
std::string shortened(std::string_view text, std::size_t characters);

}  // namespace convoke
