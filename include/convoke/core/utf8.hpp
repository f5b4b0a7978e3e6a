#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace convoke {

/// What stands for bytes that are no text: U+FFFD.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// Length in bytes of the UTF-8 character at the start of `text`, which is not empty; 0 if there is none:
/// continuation bytes alone, too few of them, overlong forms, surrogates, beyond U+10FFFF (Unicode 15,
/// table 3-7).
std::size_t utf8_length(std::string_view text);

/// The code point of the UTF-8 character at the start of `text`, which has one.
char32_t code_point(std::string_view text);

/// `text` as one line of UTF-8: line breaks and tabs become spaces, other control characters and bytes that
/// are no UTF-8 U+FFFD.
std::string one_line(std::string_view text);

/// Characters (code points) of UTF-8 text.
std::size_t character_count(std::string_view text);

/// `text` if it has at most so many characters, else its beginning and "…", so many in all. UTF-8.
std::string shortened(std::string_view text, std::size_t characters);

}  // namespace convoke
