#pragma once
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace convoke {

/// Returns "a, b, c".
std::string join(std::span<const std::string> parts, std::string_view separator = ", ");

/// Returns "a, b and 998 more": at most `most` names, so that a message stays readable.
std::string listing(std::span<const std::string> names, std::size_t most = 20);

/// Returns the first of `names` that is there before, too; empty if all differ.
std::string repeated_name(std::span<const std::string> names);

/// Returns the known name closest to `name` by edit distance, or "" if none is close (more than a third
/// differs).
std::string nearest_name(std::string_view name, std::span<const std::string> known);

/// Returns ` (did you mean "adam"?)`, or "" if no known name is close, for the end of a message about an
/// unknown name.
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

/// Returns "850 ms", "12.3 s", "4 min 05 s" or "2 h 03 min".
std::string format_duration(double seconds);

/// Returns "784 B" or "44.9 MiB".
std::string format_bytes(std::uint64_t bytes);

/// Parses a size such as "512MiB", "1.5 GiB" or "4096 B": a number and B, KiB, MiB, GiB or TiB. Returns none
/// if the text is not a size, or below 1 byte.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// Returns "512MiB": a whole number of the largest unit that is exact; parse_bytes() reads it back.
std::string exact_bytes(std::uint64_t bytes);

/// Returns "0.9861" for 4 digits; "1e+20" for large numbers; "nan" and "inf" for these.
std::string format_fixed(double value, int digits);

/// Returns `text` as one word of a shell command, quoted if necessary.
std::string shell_word(const std::string& text);

/// Returns "60,000".
std::string format_count(std::int64_t count);

/// Returns "rank" for 1, "ranks" for all other counts.
std::string plural(std::int64_t count, std::string_view noun);

/// Returns "1 rank", "2 ranks" or "1,024 ranks".
std::string counted(std::int64_t count, std::string_view noun);
template <std::unsigned_integral Count>
std::string counted(Count count, std::string_view noun) {
  return counted(static_cast<std::int64_t>(count), noun);
}

/// Parses a text that is a number and nothing else, such as "-12"; none if it is too large.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

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

/// Returns `text` as UTF-8 that changes nothing around it: control characters except line breaks and tabs,
/// those that change the direction of writing, and invalid bytes become U+FFFD.
std::string harmless(std::string_view text);

/// Returns the number of characters (code points) of UTF-8 text.
std::size_t character_count(std::string_view text);

/// Returns `text`, shortened to so many characters if it has more; then "…" is the last one. UTF-8.
std::string shortened(std::string_view text, std::size_t characters);

/// Returns all bytes of a file; none if it does not exist or is a folder. Throws Error if it exists but
/// cannot be read.
std::optional<std::string> read_text(const std::filesystem::path& file);

}  // namespace convoke
