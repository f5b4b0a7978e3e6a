#pragma once
#include <string_view>
#include <vector>

#include "convoke/report/table.hpp"

namespace convoke::report {

/// A size of letters, and the lines of articles of 10, 11 and 12 pt on A4 (345, 360 and 390 pt) in its em, at
/// least.
struct LatexSize {
  std::string_view command;
  double line_em;
};
inline constexpr LatexSize kLatexSmall{"\\scriptsize", 42}, kLatexTiny{"\\tiny", 50};
inline constexpr double kLatexGapEm = 0.4;  ///< to each side of a column, in these sizes

/// How a table is set to be no wider than the line of an A4 article.
struct LatexLayout {
  std::string_view size = {};       ///< a command; empty: that of the text around it
  std::vector<double> widths = {};  ///< of columns whose texts are wrapped, in em; empty: as wide as they are
  double gaps_em = 0;               ///< between all columns
  bool breaks = false;  ///< across pages, being long; others are shrunk if they are still too wide
};

/// By estimates of Computer Modern's widths. Wrapped columns share the line as CSS 2.1 (17.5.2.2) has it:
/// each has room for its longest word, and what is left goes by how much more each would take. A number is
/// parted from its interval only where there is no room else.
LatexLayout latex_layout(const Table& table);

}  // namespace convoke::report
