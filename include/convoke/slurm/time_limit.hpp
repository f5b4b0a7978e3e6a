#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace convoke::slurm {

inline constexpr std::int64_t kUnlimited = -1;

/// Parses a time in Slurm's format to seconds: "90" (minutes), "90:00", "1:30:00", "2-0" (days-hours),
/// "2-12:30", "2-12:30:00"; kUnlimited for "infinite". Throws Error for anything else; `what` names the value
/// in messages.
std::int64_t parse_time(std::string_view text, const std::string& what = "the time");

/// Returns "01:30:00", "2-12:30:00".
std::string format_time(std::int64_t seconds);

}  // namespace convoke::slurm
