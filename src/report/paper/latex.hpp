#pragma once
#include <string>
#include <string_view>

#include "convoke/report/table.hpp"

namespace convoke::report {

/// Text for LaTeX: one line of UTF-8 without any command. Some mathematical signs and Greek letters become
/// commands, since pdflatex knows only the letters of European names.
std::string latex_escape(std::string_view text);

/// A table by booktabs, with numbers to the right, never wider than the line (graphicx). A wide table is set
/// in small letters, and its cells wrap (tabularx). A table of more than 30 rows, or 12 rows of wrapped
/// cells, is a longtable, which breaks across pages: it needs a page of one column, outside floats. A comment
/// holds its title and the packages that it needs; the caption is up to the paper.
std::string latex(const NamedTable& table);

}  // namespace convoke::report
