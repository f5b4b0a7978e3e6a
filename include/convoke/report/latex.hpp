#pragma once
#include <string>
#include <string_view>

#include "convoke/report/table.hpp"

namespace convoke::report {

/// Text as LaTeX sets it: one line in which nothing has a meaning, UTF-8. Some mathematical signs and Greek
/// letters are named, as pdflatex knows no others than those of European names.
std::string latex_escape(std::string_view text);

/// The table as the package booktabs sets it, numbers to the right, no wider than the line (graphicx), also
/// of an article on A4: what is wide is set small, its texts wrapped (array). Of more than 30 rows, 12 of
/// wrapped texts, it is a longtable (longtable), which breaks across pages: it wants one column, and no
/// float. Its title stands in a comment with the packages it takes: the caption is the paper's.
std::string latex(const NamedTable& table);

}  // namespace convoke::report
