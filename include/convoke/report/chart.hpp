#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "convoke/report/table.hpp"

namespace convoke::report {

/// A chart and the table behind it, which is all that it is drawn from: the first column names what stands
/// along the axis, the others are series, or ends of their intervals.
struct Chart {
  enum class Kind {
    kBar,        ///< a group of bars per row, a colour per further column; lying where there are many rows
    kHistogram,  ///< bars that touch; the first column is where each begins
    kLine,       ///< a line per further column over the first, which is a number
    kScatter,    ///< points: columns x, y, group; further columns are told when a point is touched, but for
                 ///< the ends of an interval of y
    kBox,  ///< lying boxes: columns name, minimum, low, first quartile, median, third quartile, high, maximum
  };

  Kind kind;
  std::string title;
  std::string note = {};     ///< what is to be seen, and how it was computed
  std::string x_title = {};  ///< of the axis of names or x
  std::string y_title = {};
  Table table;
  bool logarithmic = false;  ///< the axis of values

  /// Columns of the table: a series of a bar or line chart, and the ends of its interval in each row.
  struct Interval {
    std::size_t of, low, high;
  };
  std::vector<Interval> intervals = {};  ///< drawn as whiskers, or as a band along a line of many points

  /// What no value exceeds, nor the axis of values: 100 of shares in %.
  std::optional<double> most = {};
  /// Of a line chart: the axis of values begins at 0, for lengths to be compared; bars always do.
  bool from_zero = false;

  /// Of a line chart: x counts workers, which are doubled rather than increased.
  bool of_workers = false;
  /// Series that look like another, but hollow and dashed, by their names: what they show is not to be taken
  /// for that one's.
  std::map<std::string, std::string> apart = {};

  /// The columns that are series: all but the first and the ends of intervals.
  std::vector<std::size_t> series() const;
  /// Of workers that are doubled four times or more: the least number and its doublings, which then lie at
  /// even steps (log2) along the axis and are named there; else nothing.
  std::vector<double> doublings() const;
  /// What it tells apart: its series, or groups of points in the order of their numbers, then of their names.
  std::vector<std::string> names() const;
  /// What its rows are called: bars and boxes.
  std::vector<std::string> row_names() const;
  /// That of the series in `column`; null if it has none.
  const Interval* interval_of(std::size_t column) const;

  std::string html() const;
};

}  // namespace convoke::report
