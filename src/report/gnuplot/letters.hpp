#pragma once
#include <set>
#include <string>

#include "convoke/report/chart.hpp"

namespace convoke::report {

/// The chart with "?" for characters that no installed font has, which are added to `missing`. (What
/// gnuplot's PDF shows for these is a black area over half of the figure.) An SVG is shown with the fonts of
/// whoever looks at it.
Chart in_known_letters(Chart chart, std::set<std::string>& missing);

}  // namespace convoke::report
