#include "convoke/study/tables/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/text.hpp"

namespace convoke::study {
namespace {

// Counts characters, assuming that each UTF-8 character takes one column of the screen.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::string number(double value) {
  if (std::abs(value) >= 1e5 && std::abs(value) < 1e15) return format_count(std::llround(value));
  return fmt::format("{:.5g}", value);
}

std::string with_error(double value, const std::optional<Interval>& interval, double factor) {
  if (!interval) return number(factor * value);
  const double half = factor * (interval->high - interval->low) / 2;
  if (half <= 0 || value == 0) return fmt::format("{} ± 0", number(factor * value));
  const int digits = std::clamp(1 - static_cast<int>(std::floor(std::log10(half))), 0, 6);
  return fmt::format("{:.{}f} ± {:.{}f}", factor * value, digits, half, digits);
}

std::string with_ends(double value, const std::optional<Interval>& interval, int digits) {
  const std::string text = format_fixed(value, digits);
  if (!interval) return text;
  return fmt::format("{} ({:.{}f} to {:.{}f})", text, interval->low, digits, interval->high, digits);
}

std::string with_ends(const std::optional<Ratio>& ratio, int digits) {
  return ratio ? with_ends(ratio->value, ratio->interval, digits) : "";
}

std::string to_text(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    widths.push_back(width_of(table.columns[c]));
    for (const std::vector<std::string>& row : table.rows) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  std::string text = "== " + table.title + "\n";
  if (!table.note.empty()) text += table.note + "\n";
  const auto add_row = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string blanks(widths[c] - width_of(row[c]), ' ');
      line += c == 0 ? row[c] + blanks : "  " + blanks + row[c];
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  };
  add_row(table.columns);
  for (const std::vector<std::string>& row : table.rows) add_row(row);
  return harmless(text);
}

}  // namespace convoke::study
