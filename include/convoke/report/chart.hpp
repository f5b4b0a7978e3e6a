#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
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

/// A chart, drawn only from its table: the first column has the positions along the axis, the others are
/// series or ends of their intervals. Pages and papers draw it from the same description
/// (src/report/chart/drawing.hpp).
struct Chart {
  enum class Kind {
    kBar,  ///< one group of bars per row, one color per further column; horizontal if there are many rows
    kHistogram,  ///< adjacent bars; the first column has the lower end of each bin
    kLine,       ///< one line per further column over the first, which holds numbers
    kScatter,    ///< points: columns x, y, group; a tooltip shows further columns, except the ends of an
                 ///< interval of y
    kBox,  ///< horizontal boxes: name, minimum, low, first quartile, median, third quartile, high, maximum
  };

  Kind kind;
  std::string title;
  std::string note = {};     ///< what the chart shows, and how it was computed
  std::string x_title = {};  ///< title of the axis of names or x
  std::string y_title = {};
  Table table;
  bool logarithmic = false;  ///< logarithmic axis of values

  /// Columns of the table: a series of a bar or line chart, and the ends of its interval in each row.
  struct Interval {
    std::size_t of, low, high;
  };
  std::vector<Interval> intervals = {};  ///< drawn as whiskers, or as a band along a line of many points

  /// Upper end of the axis of values, which no value exceeds: 100 for shares in %.
  std::optional<double> most = {};
  /// Line charts: the axis of values starts at 0, so that lengths can be compared; always true for bars.
  bool from_zero = false;

  /// Bar charts: the series of a row are one bar, on top of one another, because they are parts of a whole.
  bool stacked = false;

  /// Line charts: x counts workers, which are usually doubled.
  bool of_workers = false;
  /// Series that are related to another one, from name to name: they have its color, but are hollow and
  /// dashed, so that readers can distinguish their values.
  std::map<std::string, std::string> apart = {};

  /// Returns the columns of series: all except the first and the ends of intervals.
  std::vector<std::size_t> series() const;
  /// Returns the names of its series, or of its groups of points sorted by number, then by name.
  std::vector<std::string> names() const;
  /// Returns the interval of the series in `column`; null if it has none.
  const Interval* interval_of(std::size_t column) const;

  /// Returns `<figure class=chart>` with an empty canvas and the table; charts.js draws it.
  std::string html() const;
};

}  // namespace convoke::report
