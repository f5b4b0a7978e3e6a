#pragma once
#include <string>
#include <string_view>

#include "convoke/report/chart.hpp"

namespace convoke::report {

/// Returns text for LaTeX: one line of UTF-8 in which no character is a command. Some mathematical signs and
/// Greek letters become commands, because pdflatex knows only the letters of European names.
std::string latex_escape(std::string_view text);

/// Returns a table in booktabs style, with numbers aligned to the right, at most as wide as the line
/// (graphicx). A wide table is set in small letters, and its cells wrap (tabularx). A table of more than 30
/// rows, or 12 rows of wrapped cells, is a longtable, which breaks across pages: it needs a one-column page,
/// outside floats. A comment has its title and the packages that it needs; the paper adds the caption.
std::string latex(const NamedTable& table);

}  // namespace convoke::report
