#pragma once
#include <string>
#include <string_view>

#include "report/chart/drawing.hpp"

namespace convoke::report {

/// gnuplot's commands for a chart, without terminal and output file.
struct GnuplotScript {
  double width_mm = 84;  ///< a column of a paper
  double height_mm = 58;
  std::string commands = {};
};

/// Returns the script of the chart without its title, which belongs in the caption.
GnuplotScript gnuplot_script(const Drawing& drawing);

/// Returns a line of text as a string of gnuplot in single quotes, in which no character is special.
std::string gnuplot_quoted(std::string_view text);

}  // namespace convoke::report
