#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convoke {

/// "a, b, c".
std::string join(std::span<const std::string> parts, std::string_view separator = ", ");

/// The known name closest to `name` by edit distance, or "" when none is close (more than a third of it
/// differs).
std::string nearest_name(std::string_view name, std::span<const std::string> known);

/// ` (did you mean "adam"?)`, or "" when nothing is near: for the end of a message about an unknown name.
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

/// "850 ms", "12.3 s", "4 min 05 s", "2 h 03 min".
std::string format_duration(double seconds);

/// "784 B", "44.9 MiB".
std::string format_bytes(std::uint64_t bytes);

/// "0.9861" for 4 digits; "nan" and "inf" as they are.
std::string format_fixed(double value, int digits);

/// `text` as one word of a shell: quoted where it must be.
std::string shell_word(const std::string& text);

/// "60,000".
std::string format_count(std::int64_t count);

/// "rank" for 1, "ranks" for all other counts.
std::string plural(std::int64_t count, std::string_view noun);

/// "1 rank", "2 ranks", "1,024 ranks".
std::string counted(std::int64_t count, std::string_view noun);
template <std::unsigned_integral Count>
std::string counted(Count count, std::string_view noun) {
  return counted(static_cast<std::int64_t>(count), noun);
}

}  // namespace convoke
