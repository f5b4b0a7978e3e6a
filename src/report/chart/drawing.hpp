#pragma once
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/report/chart.hpp"
#include "report/chart/series_style.hpp"

namespace convoke::report {

/// The smallest and largest of some numbers.
struct Bounds {
  double low = std::numeric_limits<double>::infinity(), high = -low, least_positive = low;

  void add(double number);  ///< ignored if it is not finite
};

/// A position along an axis that has a label.
struct Tick {
  double at = 0;
  std::string label;
};

/// An axis with its ends and labels.
struct Axis {
  std::string title;
  double low = 0, high = 1;
  int logarithm = 0;  ///< its base, 2 or 10; 0: the axis is linear
  std::vector<Tick> ticks = {};
};

/// Returns the axis of values of `chart`. A logarithmic axis begins at a power of ten below all values; a
/// linear axis begins and ends at a tick. `shown`: values and ends of intervals; `labels`: the number of
/// labels that fit.
Axis value_axis(const Chart& chart, Bounds shown, bool from_zero, int labels);

/// Returns the axis of names, which are at 0, 1, 2, ...; if there are very many, only every second or third
/// has a label.
Axis name_axis(const Chart& chart);

/// Returns the x axis of lines and histograms, from the first to the last position. `end`: the end of the
/// last bin.
Axis place_axis(const Chart& chart, std::optional<double> end);

/// Returns an axis of a scatter chart, with a margin for the marks; it ends at `most`.
Axis point_axis(const std::string& title, const Bounds& shown, std::optional<double> most);

/// Returns short forms of names, of at most `characters` (8 or more): a longer name keeps its beginning and
/// end, with "…" between. Different names have different short forms: "…" replaces a common part near the
/// middle; if there is no such part, a number follows.
std::map<std::string, std::string> distinct_names(std::span<const std::string> names, std::size_t characters);

/// One series of a drawing: columns and rows of the chart's table.
struct DrawnSeries {
  std::string label;              ///< in the legend
  std::size_t column = 0;         ///< column of its values
  std::size_t low = 0, high = 0;  ///< columns with the ends of its intervals; 0: none
  SeriesStyle style = {};
  std::vector<std::size_t> rows = {};  ///< rows in a scatter chart; other charts use all rows
};

/// A chart with all decisions that pages and papers share, drawn from the chart's table. A renderer adds only
/// output-specific properties: sizes, fonts and surrounding colors. The chart must outlive it.
struct Drawing {
  /// `styles`: the styles of Chart::names, in their order.
  Drawing(const Chart& chart, std::span<const SeriesStyle> styles);

  const Chart& chart;
  bool horizontal = false;  ///< the axis of values is horizontal
  bool legend = false;      ///< two series or more, but not too many
  bool many = false;        ///< lines have no marks, bars no outlines, points are small
  double text_lines = 0;    ///< height of the plot in lines of text; 0: the default height
  Axis along, values;       ///< axes of names or x, and of values or y
  std::vector<DrawnSeries> series;

  /// Returns the drawing for charts.js.
  Settings settings() const;
};

/// Returns where each bin of a histogram begins, and where the last one ends: it is as wide as the one
/// before.
std::vector<double> bin_edges(const Table& table);

}  // namespace convoke::report
