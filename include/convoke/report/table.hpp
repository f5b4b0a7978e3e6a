#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convoke::report {

/// One cell of a table: what is read, and the number behind it if there is one.
struct Cell {
  std::string text;
  std::string value = {};  ///< of numbers: as JavaScript reads them
  double shade = 0;        ///< in [-1, 1]: how much the cell is coloured, in one of two colours

  Cell(std::string_view words) : text(words) {}    // NOLINT: conversions are the point
  Cell(const char* words) : text(words) {}         // NOLINT
  Cell(const std::string& words) : text(words) {}  // NOLINT
  /// "60,000".
  static Cell count(std::int64_t number);
  /// With so many significant digits; "–" if it is not finite.
  static Cell number(double number, int digits = 4);
  /// "12.3 %" of 0.123, with so many digits behind the point.
  static Cell percent(double share, int digits = 1);
  /// "5.64 s".
  static Cell seconds(double seconds);
  /// "·", a 0 that lets the others stand out; who hears the page hears "0".
  static Cell zero();

  Cell shaded(double by) const;
};

/// A table; numbers stand to the right.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows = {};  ///< each as long as `columns`

  /// `<div class="scroll"><table>...`; it scrolls by itself where it is wider than the page. `name`: what it
  /// is called, for those who hear it.
  std::string html(std::string_view name) const;
  /// As RFC 4180 has it, a line of names first. Numbers have no separators and units, and where there is none
  /// stands nothing.
  std::string csv() const;
};

/// A table and what it is called.
struct NamedTable {
  std::string title;
  Table table;
};

}  // namespace convoke::report
