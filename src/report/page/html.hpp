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
/// The Content-Security-Policy of a page: it runs these scripts, uses this style, shows pictures that are
/// part of the page, and nothing else. Text in a page that became an element by mistake would therefore do
/// nothing.
std::string_view page_policy();

}  // namespace convoke::report
