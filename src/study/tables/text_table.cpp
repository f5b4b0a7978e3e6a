#include "convoke/study/tables/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/text.hpp"

namespace convoke::study {
std::string number(double value) {
  if (std::abs(value) >= 99999.5 && std::abs(value) < 1e15) return format_count(std::llround(value));
  return fmt::format("{:.5g}", value);
}

std::string with_error(double value, const std::optional<Interval>& interval, double factor) {
  if (!interval || !(factor * interval->high < 1e15)) return number(factor * value);
  const double half = factor * (interval->high - interval->low) / 2;
  if (half <= 1e-12 * std::abs(factor * value)) return fmt::format("{} ± 0", number(factor * value));
  const int digits = std::max(0, 1 - static_cast<int>(std::floor(std::log10(half))));
  if (digits > 6) return fmt::format("{:.5g} ± {:.2g}", factor * value, half);
  return fmt::format("{:.{}f} ± {:.{}f}", factor * value, digits, half, digits);
}

std::string with_ends(double value, const std::optional<Interval>& interval, int digits) {
  const std::string text = format_fixed(value, digits);
  if (!interval) return text;
  return fmt::format("{} ({} to {})", text, format_fixed(interval->low, digits),
                     format_fixed(interval->high, digits));
}

std::string with_ends(const std::optional<Estimate>& estimate, int digits) {
  return estimate ? with_ends(estimate->value, estimate->interval, digits) : "";
}

std::string aligned(std::span<const std::vector<std::string>> rows, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], character_count(row[c]));
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string blanks(widths[c] - character_count(row[c]), ' ');
      line += (c == 0 ? "" : "  ") + (c < left ? row[c] + blanks : blanks + row[c]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string to_text(const TextTable& table) {
  std::vector<std::vector<std::string>> rows{table.columns};
  rows.insert(rows.end(), table.rows.begin(), table.rows.end());
  for (std::vector<std::string>& row : rows) std::ranges::transform(row, row.begin(), one_line);
  const std::string title = table.title.empty() ? "" : "== " + one_line(table.title) + "\n";
  const std::string note = table.note.empty() ? "" : table.note + "\n";
  return title + harmless(note) + aligned(rows);
}

}  // namespace convoke::study
