#pragma once
#include <span>
#include <string>

#include "convoke/report/chart.hpp"
#include "convoke/report/looks.hpp"

namespace convoke::report {

/// A chart in gnuplot's words: everything but the terminal and the file that it is drawn to.
struct GnuplotScript {
  double width_mm = 84;  ///< a column of a paper
  double height_mm = 58;
  std::string commands = {};
};

/// The chart without its title, which belongs into the caption; `looks` of its names. They differ in colour,
/// and in dashes, marks or filling, so that they can be told apart in grey.
GnuplotScript gnuplot_script(const Chart& chart, std::span<const Look> looks);

}  // namespace convoke::report
