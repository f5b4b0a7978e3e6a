#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace convoke::data_prep {

/// How the numbers of a column are written.
struct NumberFormat {
  char decimal = '.';         ///< . or ,
  char thousands = '\0';      ///< between groups of three digits: , . blank ' or _; 0: none
  bool percent = false;       ///< "12 %" is 0.12
  std::string currency = {};  ///< before or after a number, which may also have none; empty: none

  /// Returns the number of a cell; none if it is written otherwise. Blanks around it do not count, also the
  /// non-breaking ones; "(5)" with a currency is -5. Numbers too small for a double are 0, too large ones
  /// infinite.
  std::optional<double> read(const std::string& cell) const;

  bool operator==(const NumberFormat&) const = default;
};

/// True for a cell that is missing in a column of numbers: is_missing(), and a dash or a dot alone.
bool is_missing_number(const std::string& cell);

/// Returns what differs from plain numbers: "decimal comma, thousands by blanks"; empty for plain ones.
std::string to_text(const NumberFormat& format);

/// Finds the format of a column of numbers from its cells.
class NumberColumn {
 public:
  /// Adds a cell that is not missing, of that line.
  void add(const std::string& cell, std::uint64_t line);

  /// '.' or ',' if the column is one of numbers that can only have this decimal sign; else 0.
  char decimal() const;

  /// Returns the format that reads the most cells; among equals one with the sign `decimal`, then the
  /// plainest.
  NumberFormat format(char decimal) const;

  /// True if the numbers are either whole with separated thousands or have decimals: all are like "4,000", or
  /// all like "4.000".
  bool ambiguous() const;

  std::int64_t cells() const { return cells_; }
  /// Returns the number of cells that the format reads.
  std::int64_t read(const NumberFormat& format) const;

  /// The first cell that a format does not read; line 0: there is none.
  struct Cell {
    std::uint64_t line = 0;
    std::string text = {};
  };
  const Cell& first_unread(const NumberFormat& format) const;

  /// True if the format reads all cells; or all but one or a tenth of them, and three times as many as these.
  bool is_numeric(const NumberFormat& format) const;

 private:
  static constexpr std::size_t kFormats = 27;  // 9 pairs of decimal sign and thousands separator, 3 units

  void count(std::uint32_t readers, const std::string& cell, std::uint64_t line);

  std::int64_t cells_ = 0;
  std::string currency_;                          // the first one
  std::map<std::uint32_t, std::int64_t> counts_;  // of cells by the set of formats that read them
  std::uint32_t unset_ = (1U << kFormats) - 1;    // formats without a first unread cell
  std::array<Cell, kFormats> first_unread_{};
};

/// Parses a cell that holds a number, with or without blanks around it: "3", "-1.5e3", "+2", "inf"; none if
/// it holds anything else.
std::optional<double> number_in(const std::string& cell);

/// True for a missing value: an empty cell, NA, N/A, NaN, null, none or ?, in any case.
bool is_missing(const std::string& cell);

/// Returns the same text for cells of one value in different spellings: those that are equal as numbers (1,
/// 1.0, 01), and true, false, yes and no in any case.
std::string value_key(const std::string& cell);

}  // namespace convoke::data_prep
