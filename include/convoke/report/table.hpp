#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convoke::report {

/// One cell of a table: its text, and the exact number if it shows one.
struct Cell {
  std::string text;
  std::string value = {};  ///< the number, as JavaScript reads it; empty if there is none
  double shade = 0;        ///< in [-1, 1]: the strength of its background; the sign selects the color

  Cell(std::string_view words) : text(words) {}    // NOLINT: conversions are the point
  Cell(const char* words) : text(words) {}         // NOLINT
  Cell(const std::string& words) : text(words) {}  // NOLINT
  /// Returns a number that `words` show.
  static Cell exact(std::string_view words, std::string number);
  /// Returns "60,000".
  static Cell count(std::int64_t number);
  /// Formats with `digits` significant digits; "–" if it is not finite.
  static Cell number(double number, int digits = 4);
  /// Formats 0.123 as "12.3 %", with `digits` decimals.
  static Cell percent(double share, int digits = 1);
  /// Formats as "5.64 s".
  static Cell seconds(double seconds);
  /// Returns "·", a 0 that does not distract from other numbers; screen readers say "0".
  static Cell zero();

  Cell shaded(double by) const;
  double as_double() const;  ///< the number; NaN if there is none
};

/// Returns the number of significant digits that show a tenth of `step` in numbers up to `largest`: at least
/// 4, at most 12.
int digits_for(double largest, double step);
/// Returns the same for a hundredth of the range of `numbers`; those that are not finite do not count.
int digits_for(std::span<const double> numbers);

/// A table; numbers, and dashes for missing ones, are aligned to the right.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows = {};  ///< each as long as `columns`

  /// Returns `<div class="scroll"><table>...`; it scrolls if it is wider than the page. `name`: for screen
  /// readers.
  std::string html(std::string_view name) const;
  /// Returns CSV (RFC 4180) with a header. Numbers have no separators and units; a missing number is empty.
  std::string csv() const;
};

/// A table with its title.
struct NamedTable {
  std::string title;
  Table table;
};

}  // namespace convoke::report
