#pragma once
#include <string>
#include <string_view>

#include "report/chart/drawing.hpp"

namespace convoke::report {

/// gnuplot's commands for a chart: everything but the terminal and the file that it is drawn to.
struct GnuplotScript {
  double width_mm = 84;  ///< a column of a paper
  double height_mm = 58;
  std::string commands = {};
};

/// The chart without its title, which belongs into the caption.
GnuplotScript gnuplot_script(const Drawing& drawing);

/// Text of one line as a string of gnuplot in which nothing has a meaning, in single quotes.
std::string gnuplot_quoted(std::string_view text);

}  // namespace convoke::report
