#pragma once
#include <string>

#include "convoke/report/chart.hpp"

namespace convoke::report {

/// A chart in gnuplot's words: everything but the terminal and the file that it is drawn to.
struct GnuplotScript {
  double width_mm = 84;  ///< a column of a paper
  double height_mm = 58;
  std::string commands = {};
};

/// The chart without its title, which belongs into the caption. Series differ in colour (distinct for the
/// colour-blind), and in dashes, marks or filling, so that they can be told apart in grey.
GnuplotScript gnuplot_script(const Chart& chart);

}  // namespace convoke::report
