#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/study/tables/cells.hpp"
#include "convoke/study/tables/published_table.hpp"

// The arithmetic of an audit: figures that are printed stand for a range, and so does what is made from them.

namespace convoke::study {

/// A figure, and the ends of what it may be.
struct Range {
  double value = 0, low = 0, high = 0;
};

inline Range operator*(double factor, const Range& r) {  // factor >= 0
  return {factor * r.value, factor * r.low, factor * r.high};
}
inline Range operator*(const Range& a, const Range& b) {  // both >= 0
  return {a.value * b.value, a.low * b.low, a.high * b.high};
}
inline Range operator/(const Range& a, const Range& b) {  // a >= 0, b > 0
  return {a.value / b.value, a.low / b.high, a.high / b.low};
}
inline Range one_minus(const Range& r) { return {1 - r.value, 1 - r.high, 1 - r.low}; }

inline bool overlap(const Range& a, const Range& b) { return a.low <= b.high && b.low <= a.high; }

/// The rows of a table, asked for figures.
class Rows {
 public:
  explicit Rows(std::span<const TableRow> rows) : rows_(rows) {}

  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }

  /// The column's figure in the row; a positive one, or none.
  static std::optional<Range> figure(const TableRow& row, std::string_view column);

  /// The mean of the column over all rows of these coordinates.
  std::optional<Range> mean(const Coordinates& at, std::string_view column) const;

  /// Of the same rows; a count of 0 without any.
  Statistics statistics(const Coordinates& at, std::string_view column) const;

  /// The row that a row of the same system, portion and variant is compared with: that of the fewest workers,
  /// or where they are not said, of a sequential mode. Null without one that has the column.
  const TableRow* base(const TableRow& row, std::string_view column) const;

  /// T1 / Tn of the column.
  std::optional<Range> speedup(const TableRow& row, std::string_view column) const;

  /// Workers of the row / workers of the base; 0: not said. Without a row that has `column`, workers.
  double workers(const TableRow& row, std::string_view column) const;

 private:
  std::span<const TableRow> rows_;
};

/// A way to derive a column's figure.
struct Definition {
  using Derive = std::function<std::optional<Range>(const Rows& rows, const TableRow& row)>;
  std::string name;
  Derive derive;
  std::string usual_name;  ///< of one that textbooks do not have: the usual one that it stands for,
  Derive usual;            ///< else empty
};

/// The definitions of a derived column in use, the usual ones first; empty if it has none.
std::vector<Definition> definitions(std::string_view column, const Rows& rows);

}  // namespace convoke::study
