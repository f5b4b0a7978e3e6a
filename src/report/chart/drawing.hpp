#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/report/chart.hpp"
#include "report/chart/axis.hpp"
#include "report/chart/series_style.hpp"

namespace convoke::report {

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
