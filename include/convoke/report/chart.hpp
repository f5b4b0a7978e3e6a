#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "convoke/report/table.hpp"

namespace convoke::report {

/// A chart, drawn from its table alone: the first column has the places along the axis, the others are series
/// or ends of their intervals. Pages and papers draw it from the same description
/// (src/report/chart/drawing.hpp).
struct Chart {
  enum class Kind {
    kBar,        ///< a group of bars per row, a colour per further column; horizontal if there are many rows
    kHistogram,  ///< bars that touch; the first column has the beginning of each
    kLine,       ///< a line per further column over the first, which holds numbers
    kScatter,    ///< points: columns x, y, group; a tooltip shows further columns, except the ends of an
                 ///< interval of y
    kBox,  ///< horizontal boxes: name, minimum, low, first quartile, median, third quartile, high, maximum
  };

  Kind kind;
  std::string title;
  std::string note = {};     ///< what the chart shows, and how it was computed
  std::string x_title = {};  ///< of the axis of names or x
  std::string y_title = {};
  Table table;
  bool logarithmic = false;  ///< the axis of values

  /// Columns of the table: a series of a bar or line chart, and the ends of its interval in each row.
  struct Interval {
    std::size_t of, low, high;
  };
  std::vector<Interval> intervals = {};  ///< drawn as whiskers, or as a band along a line of many points

  /// The end of the axis of values, which no value exceeds: 100 for shares in %.
  std::optional<double> most = {};
  /// Line charts: the axis of values begins at 0, so that lengths can be compared; that of bars always does.
  bool from_zero = false;

  /// Line charts: x counts workers, which are usually doubled.
  bool of_workers = false;
  /// Series that share the colour of another one, but are hollow and dashed, because their values must not be
  /// mistaken for those of the other: name to name.
  std::map<std::string, std::string> apart = {};

  /// The columns of series: all but the first and the ends of intervals.
  std::vector<std::size_t> series() const;
  /// If workers are doubled four times or more: the least number and its doublings, which then have equal
  /// distances (log2) along the axis; else nothing.
  std::vector<double> doublings() const;
  /// The names of its series, or of its groups of points in the order of their numbers, then of their names.
  std::vector<std::string> names() const;
  /// The names of its rows: bars and boxes.
  std::vector<std::string> row_names() const;
  /// The interval of the series in `column`; null if it has none.
  const Interval* interval_of(std::size_t column) const;

  /// `<figure class=chart>` with an empty canvas and the table; charts.js draws it.
  std::string html() const;
};

}  // namespace convoke::report
