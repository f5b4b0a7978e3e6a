#pragma once
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoke/study/analysis/audit.hpp"
#include "convoke/study/tables/measured_configuration.hpp"
#include "convoke/study/tables/measurement.hpp"

// Interval arithmetic for an audit: printed figures stand for a range, and so do values derived from them.

namespace convoke::study {

/// A figure, and the bounds of its possible values.
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

/// A column of times from which speed-ups follow, and its name in findings.
struct TimeColumn {
  std::string_view column, plural;
};

inline constexpr std::array kTimes{TimeColumn{"makespan_seconds", "makespans"},
                                   TimeColumn{"epoch_seconds", "times per epoch"},
                                   TimeColumn{"mean_over_ranks_seconds", "means over ranks"}};

/// The rows of a table, with access to their figures.
class Rows {
 public:
  explicit Rows(std::span<const TableRow> rows);

  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }

  /// Returns the column's figure in the row; empty unless it is positive.
  static std::optional<Range> figure(const TableRow& row, std::string_view column);

  /// Returns the mean of the column over all rows of these coordinates.
  std::optional<Range> mean(const Coordinates& at, std::string_view column) const;

  /// Returns the statistics over the same rows; with count 0 if there is none.
  Statistics statistics(const Coordinates& at, std::string_view column) const;

  /// Returns the base of a row of the same system, fraction and variant: the row with the fewest workers, or
  /// of a sequential mode if workers are unknown. Null if no such row has the column.
  const TableRow* base(const TableRow& row, std::string_view column) const;

  /// Returns T1 / Tn of the column.
  std::optional<Range> speedup(const TableRow& row, std::string_view column) const;

  /// Returns workers of the row / workers of the base; 0: unknown. If no row has `column`, the workers of the
  /// row.
  double workers(const TableRow& row, std::string_view column) const;

 private:
  /// The rows of the same coordinates, which are repeats.
  struct ConfigurationRows {
    Coordinates at;
    std::vector<const TableRow*> rows;
  };
  std::vector<Range> figures(const Coordinates& at, std::string_view column) const;
  const TableRow* find_base(const Coordinates& at, std::string_view column) const;

  std::span<const TableRow> rows_;
  std::vector<ConfigurationRows> configurations_;  ///< in the order of their first rows
  std::map<Coordinates, std::size_t> places_;      ///< of the configurations
  /// Bases that were asked for, by configuration and column.
  mutable std::map<std::pair<Coordinates, std::string>, const TableRow*> bases_;
};

/// A definition that derives a column's figure.
struct Definition {
  using Derive = std::function<std::optional<Range>(const Rows& rows, const TableRow& row)>;
  std::string name;
  Derive derive;
  std::string usual_name;  ///< for an unusual definition: name of the usual one that it replaces,
  Derive usual;            ///< otherwise empty
};

/// Returns the known definitions of a derived column, the usual ones first; empty if it has none.
std::vector<Definition> definitions(std::string_view column, const Rows& rows);

}  // namespace convoke::study
