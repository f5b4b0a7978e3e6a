#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace convoke {

/// The bytes of "512MiB", "1.5 GiB", "4096 B": a number and B, KiB, MiB, GiB or TiB. Nothing if the text is
/// no such size, or below 1 byte.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// "512MiB": a whole number of the largest unit that loses nothing; parse_bytes() reads it back.
std::string exact_bytes(std::uint64_t bytes);

}  // namespace convoke
