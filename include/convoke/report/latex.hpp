#pragma once
#include <string>
#include <string_view>

#include "convoke/report/table.hpp"

namespace convoke::report {

/// Text as LaTeX sets it: one line in which nothing has a meaning, UTF-8. Some mathematical signs and Greek
/// letters are named, as pdflatex knows no others than those of European names.
std::string latex_escape(std::string_view text);

/// The table as a tabular of the package booktabs, numbers to the right. Its title stands in a comment: the
/// caption is the paper's.
std::string latex(const NamedTable& table);

}  // namespace convoke::report
