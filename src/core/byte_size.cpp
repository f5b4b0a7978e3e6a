#include "convoke/core/byte_size.hpp"

#include <array>
#include <charconv>
#include <system_error>

namespace convoke {
namespace {

constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  for (const std::string_view unit : kUnits) {
    if (text == unit) {
      const bool fits = value >= 1 && value < 0x1p62;
      return fits ? std::optional(static_cast<std::uint64_t>(value)) : std::nullopt;
    }
    value *= 1024;
  }
  return {};
}

std::string exact_bytes(std::uint64_t bytes) {
  std::size_t unit = 0;
  for (; bytes > 0 && bytes % 1024 == 0 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return std::to_string(bytes) + std::string(kUnits[unit]);
}

}  // namespace convoke
