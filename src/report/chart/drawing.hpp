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
  std::size_t column = 0;         ///< of its values
  std::size_t low = 0, high = 0;  ///< columns with the ends of its intervals; 0: it has none
  SeriesStyle style = {};
  std::vector<std::size_t> rows = {};  ///< of a scatter chart; others have all rows
};

/// A chart with every decision made that pages and papers share, drawn from the chart's table. A renderer
/// adds only what its output needs: sizes, fonts and the colours around. The chart must outlive it.
struct Drawing {
  /// `styles`: of Chart::names, in their order.
  Drawing(const Chart& chart, std::span<const SeriesStyle> styles);

  const Chart& chart;
  bool lying = false;     ///< the axis of values is horizontal
  bool legend = false;    ///< two series or more, but not too many
  bool many = false;      ///< lines have no marks, bars no outlines, points are small
  double text_lines = 0;  ///< height of the plot, in lines of text; 0: the usual height
  Axis along, values;     ///< of names or x, and of values or y
  std::vector<DrawnSeries> series;

  /// For charts.js.
  Settings settings() const;
};

/// Where each bin of a histogram begins, and where the last one ends: as wide as the one before.
std::vector<double> bin_edges(const Table& table);

}  // namespace convoke::report
