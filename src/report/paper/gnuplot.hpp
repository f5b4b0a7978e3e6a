#pragma once
#include <filesystem>
#include <set>
#include <span>
#include <string>

#include "convoke/report/chart.hpp"
#include "report/chart/series_style.hpp"

namespace convoke::report {

inline constexpr const char* kGnuplot = "gnuplot";  ///< the program

/// Draws the chart, whose names have these styles, into two files, SVG and PDF; each appears when it is
/// complete. Adds the characters that the PDF lacks to `missing`. Throws Error with the chart's title and the
/// message of gnuplot.
void draw(const Chart& chart, std::span<const SeriesStyle> styles, const std::filesystem::path& svg,
          const std::filesystem::path& pdf, std::set<std::string>& missing);

}  // namespace convoke::report
