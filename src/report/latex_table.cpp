#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <regex>
#include <vector>

#include "convoke/core/text.hpp"
#include "convoke/core/utf8.hpp"
#include "convoke/report/latex.hpp"
#include "latex_layout.hpp"

namespace convoke::report {
namespace {

// The numbers of a cell, "-1.5e-05 to 0.2", with minus signs and powers of ten.
std::string latex_numbers(const std::string& text) {
  static const std::regex number(R"re((^|[ (])(-?)(\d[\d.,]*)(?:e([+-]?\d+))?)re");
  std::string latex;
  auto rest = text.begin();
  for (std::sregex_iterator it(text.begin(), text.end(), number); it != std::sregex_iterator(); ++it) {
    const std::smatch& found = *it;
    latex += latex_escape(std::string(rest, found[1].second));
    latex += found[2].length() == 0 ? "" : "$-$";
    latex += found[4].matched ? fmt::format("${}\\cdot10^{{{}}}$", found[3].str(), std::stoi(found[4]))
                              : found[3].str();
    rest = found[0].second;
  }
  return latex + latex_escape(std::string(rest, text.end()));
}

std::string latex_cell(const Cell& cell) {
  return cell.value.empty() ? latex_escape(cell.text) : latex_numbers(one_line(cell.text));
}

std::string line_of(const std::vector<std::string>& cells) { return join(cells, " & ") + " \\\\\n"; }

// Numbers to the right. Of a table that breaks across pages, and so cannot be shrunk, widths are shares of
// the line.
std::string columns_of(const Table& table, const LatexLayout& layout) {
  double all = 0;
  for (const double width : layout.widths) all += width;
  std::string columns = "@{}";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const bool number = std::any_of(table.rows.begin(), table.rows.end(),
                                    [&](const auto& row) { return !row[c].value.empty(); });
    if (layout.widths.empty()) {
      columns += number ? 'r' : 'l';
      continue;
    }
    columns += fmt::format(">{{\\ragged{}\\arraybackslash}}", number ? "left" : "right");
    columns += layout.breaks ? fmt::format("p{{{:.4f}\\dimexpr\\linewidth-{:.1f}em\\relax}}",
                                           0.999 * layout.widths[c] / all, layout.gaps_em)
                             : fmt::format("p{{{:.2f}em}}", layout.widths[c]);
  }
  return columns + "@{}";
}

}  // namespace

std::string latex(const NamedTable& named) {
  const Table& table = named.table;
  const LatexLayout layout = latex_layout(table);

  std::vector<std::string> packages{"booktabs", layout.breaks ? "longtable" : "graphicx"}, cells;
  if (!layout.widths.empty()) packages.emplace_back("array");
  std::transform(table.columns.begin(), table.columns.end(), std::back_inserter(cells), latex_escape);
  const std::string header = "\\toprule\n" + line_of(cells) + "\\midrule\n";
  std::string rows;
  for (const std::vector<Cell>& row : table.rows) {
    std::transform(row.begin(), row.end(), cells.begin(), latex_cell);
    rows += line_of(cells);
  }

  const std::string columns = columns_of(table, layout);
  const std::string set =
      layout.breaks
          ? fmt::format(
                "\\begin{{longtable}}{{{}}}\n{}\\endhead\n\\bottomrule\n\\endfoot\n{}\\end{{longtable}}",
                columns, header, rows)
          : fmt::format(
                "\\noindent\\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%\n"
                "\\begin{{tabular}}{{{}}}\n{}{}\\bottomrule\n\\end{{tabular}}}}",
                columns, header, rows);
  std::string lengths;
  if (!layout.size.empty())
    lengths = fmt::format("{}\\setlength{{\\tabcolsep}}{{{}em}}", layout.size, kLatexGapEm);
  if (!layout.widths.empty()) lengths += "\\setlength{\\extrarowheight}{2pt}";  // rows of lines stand apart
  return fmt::format("% {}; takes \\usepackage{{{}}}\n{{{}%\n{}}}\n", one_line(named.title), join(packages),
                     lengths, set);
}

}  // namespace convoke::report
