#pragma once
#include <string>
#include <string_view>

#include "convoke/report/heat_map.hpp"
#include "report/chart/drawing.hpp"

namespace convoke::report {

/// gnuplot's commands for a chart, without terminal and output file.
struct GnuplotScript {
  double width_mm = 84;  ///< a column of a paper
  double height_mm = 58;
  double points = 8;  ///< size of letters
  std::string commands = {};
};

/// Returns the script of the chart without its title, which belongs in the caption.
GnuplotScript gnuplot_script(const Drawing& drawing);
/// Returns the script of the whole map, as a square.
GnuplotScript gnuplot_script(const HeatMap& map);

/// Returns an entry of gnuplot's list of ticks. A label is a format for its number, in which % is special.
std::string gnuplot_tick(std::string_view label, double at);

/// Returns a line of text as a string of gnuplot in single quotes, in which no character is special.
std::string gnuplot_quoted(std::string_view text);

}  // namespace convoke::report
