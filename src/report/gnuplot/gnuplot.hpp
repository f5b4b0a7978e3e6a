#pragma once
#include <filesystem>
#include <set>
#include <span>
#include <string>

#include "convoke/report/chart.hpp"
#include "convoke/report/looks.hpp"

namespace convoke::report {

inline constexpr const char* kGnuplot = "gnuplot";  ///< the program

/// Draws the chart, whose names have these looks, into two files, SVG and PDF, which are there when they are
/// whole. Characters that the PDF lacks are added to `missing`. Throws Error with the chart's title and what
/// gnuplot says.
void draw(const Chart& chart, std::span<const Look> looks, const std::filesystem::path& svg,
          const std::filesystem::path& pdf, std::set<std::string>& missing);

}  // namespace convoke::report
