#pragma once
#include <string_view>

// Files that every page contains; the build compiles them into the library (src/report/CMakeLists.txt).

namespace convoke::report {

std::string_view chart_library();  ///< Chart.js, minified; empty if Debian's libjs-chart.js was not installed
std::string_view chart_script();   ///< charts.js
std::string_view page_style();     ///< page.css

}  // namespace convoke::report
