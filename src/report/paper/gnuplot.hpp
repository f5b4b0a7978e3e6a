#pragma once
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "convoke/report/chart.hpp"
#include "report/chart/drawing.hpp"
#include "report/chart/series_style.hpp"

namespace convoke::report {

inline constexpr const char* kGnuplot = "gnuplot";  ///< the program

/// Draws the chart, whose names have these styles, into two files, SVG and PDF; each appears when it is
/// complete. Adds the characters that the PDF lacks to `missing`. Throws Error with the chart's title and the
/// message of gnuplot.
void draw(const Chart& chart, std::span<const SeriesStyle> styles, const std::filesystem::path& svg,
          const std::filesystem::path& pdf, std::set<std::string>& missing);

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
