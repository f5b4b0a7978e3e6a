#include "convoke/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>
#include <system_error>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/os/file.hpp"

namespace convoke {

namespace {

// Levenshtein distance, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substitute, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string listing(std::span<const std::string> names, std::size_t most) {
  const std::size_t more = names.size() - std::min(names.size(), most);
  return join(names.first(names.size() - more)) +
         (more > 0 ? fmt::format(" and {} more", format_count(static_cast<std::int64_t>(more))) : "");
}

std::string nearest_name(std::string_view name, std::span<const std::string> known) {
  std::string best;
  std::pair least(std::max<std::size_t>(1, name.size() / 3) + 1,
                  std::size_t{0});  // and the number of letters that only one of both has
  for (const std::string& candidate : known) {
    // The distance is at least the difference of the lengths, and takes long to compute for a very long name.
    const std::size_t lengths =
        std::max(name.size(), candidate.size()) - std::min(name.size(), candidate.size());
    if (lengths >= least.first) continue;
    std::string letters(name), theirs = candidate, unlike;
    std::ranges::sort(letters);
    std::ranges::sort(theirs);
    std::ranges::set_symmetric_difference(letters, theirs, std::back_inserter(unlike));
    const std::pair distance(edit_distance(name, candidate), unlike.size());
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string repeated_name(std::span<const std::string> names) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) return name;
  }
  return {};
}

std::string did_you_mean(std::string_view name, std::span<const std::string> known) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", nearest);
}

std::string format_duration(double seconds) {
  // Each unit ends where its rounded text would reach the next unit: 59.96 s is "1 min 00 s", not "60.0 s".
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  if (seconds >= 3.6e12) return fmt::format("{:.3g} h", seconds / 3600);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  const std::int64_t minutes = (whole + 30) / 60;
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

namespace {

constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};

}  // namespace

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {  // 1023.95 would be written as 1024.0
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

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

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{}{}", noun, count == 1 ? "" : noun.ends_with("tch") ? "es" : "s");
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}", format_count(count), plural(count, noun));
}

std::string format_fixed(double value, int digits) {
  constexpr double kLong = 1e15;  // its digits would be those of the binary number
  return std::abs(value) < kLong ? fmt::format("{:.{}f}", value, digits) : fmt::format("{:.5g}", value);
}

std::string format_count(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

std::string shell_word(const std::string& text) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c > 127; };
  const bool safe = !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return plain(static_cast<unsigned char>(c)) || std::string_view("@%+=:,./-").find(c) != std::string::npos;
  });
  if (safe) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(text[i])) return 0;
  }
  const unsigned char second = byte(1);
  if (first == 0xE0 && second < 0xA0) return 0;
  if (first == 0xED && second > 0x9F) return 0;
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second > 0x8F) return 0;
  return length;
}

char32_t code_point(std::string_view text) {
  const std::size_t length = utf8_length(text);
  const auto first = static_cast<unsigned char>(text[0]);
  if (length == 1) return first;
  char32_t point = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  return point;
}

std::string harmless(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char32_t point = length == 0 ? 0 : code_point(text);
    const bool reorders = (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
    const bool control = point < 0x20 || (point >= 0x7F && point < 0xA0) || reorders;
    if (!control || point == '\n' || point == '\t') {
      result += text.substr(0, length);
    } else {
      result += kReplacementCharacter;
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string one_line(std::string_view text) {
  std::string line(text);
  const auto breaks = [](char c) { return c == '\n' || c == '\r' || c == '\t'; };
  std::ranges::replace_if(line, breaks, ' ');
  return harmless(line);
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string shortened(std::string_view text, std::size_t characters) {
  if (character_count(text) <= characters) return std::string(text);
  std::size_t bytes = 0;
  for (std::size_t kept = 0; kept + 1 < characters; ++kept) {
    ++bytes;
    while (continues(text[bytes])) ++bytes;
  }
  return std::string(text.substr(0, bytes)) + "…";
}

std::optional<std::string> read_text(const std::filesystem::path& file) {
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) return std::nullopt;
  if (!os::special_kind(file).empty()) os::File(file, os::Access::kRead);  // refuses it
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::string text;
  for (std::array<char, 1 << 14> part{}; in;) {
    in.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.eof()) return text;
  const int error = errno;
  if (!std::filesystem::exists(file, unknown)) return std::nullopt;
  throw Error(fmt::format("{}: cannot be read: {}", file.string(), std::generic_category().message(error)),
              "check the disk, and that you may read the file");
}

}  // namespace convoke
