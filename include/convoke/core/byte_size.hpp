#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace convoke {

/// Parses a size such as "512MiB", "1.5 GiB" or "4096 B": a number and B, KiB, MiB, GiB or TiB. Returns none
/// if the text is not a size, or below 1 byte.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// Returns "512MiB": a whole number of the largest unit that is exact; parse_bytes() reads it back.
std::string exact_bytes(std::uint64_t bytes);

}  // namespace convoke
