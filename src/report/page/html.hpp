#pragma once
#include <string>
#include <string_view>

// Files that every page contains; the build compiles them into the library (src/report/CMakeLists.txt).

namespace convoke::report {

/// Escapes text for HTML elements and quoted attributes: & < > " ' become entities, control characters and
/// bytes that are not UTF-8 become U+FFFD.
std::string escape(std::string_view text);

std::string_view chart_library();  ///< Chart.js, minified; empty if Debian's libjs-chart.js was not installed
std::string_view chart_script();   ///< charts.js
std::string_view heat_map_script();  ///< heat_maps.js
std::string_view page_style();       ///< page.css

}  // namespace convoke::report
