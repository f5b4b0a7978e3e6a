#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "convoke/report/table.hpp"

namespace convoke::report {

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
