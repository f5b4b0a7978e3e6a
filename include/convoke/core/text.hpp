#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convoke {

/// Returns "a, b, c".
std::string join(std::span<const std::string> parts, std::string_view separator = ", ");

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

/// Returns "0.9861" for 4 digits; "nan" and "inf" for these.
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

}  // namespace convoke
