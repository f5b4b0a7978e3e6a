#include "convoke/report/latex.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "convoke/core/utf8.hpp"

namespace convoke::report {
namespace {

using Named = std::pair<std::string_view, std::string_view>;
constexpr std::array<Named, 34> kNamed{{{"\\", "\\textbackslash{}"},
                                        {"{", "\\{"},
                                        {"}", "\\}"},
                                        {"&", "\\&"},
                                        {"%", "\\%"},
                                        {"$", "\\$"},
                                        {"#", "\\#"},
                                        {"_", "\\_"},
                                        {"~", "\\textasciitilde{}"},
                                        {"^", "\\textasciicircum{}"},
                                        {"<", "\\textless{}"},
                                        {">", "\\textgreater{}"},
                                        {"|", "\\textbar{}"},
                                        {"\"", "\\char34{}"},
                                        {"`", "\\textasciigrave{}"},
                                        {"[", "{[}"},  // behind \\ it would begin an option
                                        {"*", "{*}"},
                                        {"-", "-{}"},  // two are no dash
                                        {"−", "$-$"},
                                        {"≤", "$\\le$"},
                                        {"≥", "$\\ge$"},
                                        {"≈", "$\\approx$"},
                                        {"→", "$\\to$"},
                                        {"∞", "$\\infty$"},
                                        {"√", "$\\surd$"},
                                        {"Δ", "$\\Delta$"},
                                        {"Σ", "$\\Sigma$"},
                                        {"α", "$\\alpha$"},
                                        {"β", "$\\beta$"},
                                        {"κ", "$\\kappa$"},
                                        {"λ", "$\\lambda$"},
                                        {"μ", "$\\mu$"},
                                        {"σ", "$\\sigma$"},
                                        {kReplacementCharacter, "?"}}};

// A cell of a number: "-1.5e-05" is -1.5 times a power of ten.
std::string latex_number(std::string text) {
  std::string sign;
  if (text.starts_with('-')) {
    sign = "$-$";
    text.erase(0, 1);
  }
  const std::size_t e = text.find('e');
  if (e == std::string::npos || text.find_first_not_of("0123456789.", 0) != e)
    return sign + latex_escape(text);
  std::size_t digits = 0;
  const int exponent = std::stoi(text.substr(e + 1), &digits);
  return fmt::format("{}${}\\cdot10^{{{}}}${}", sign, text.substr(0, e), exponent,
                     latex_escape(text.substr(e + 1 + digits)));
}

}  // namespace

std::string latex_escape(std::string_view text) {
  const std::string line = one_line(text);
  std::string latex;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t length = utf8_length(std::string_view(line).substr(at));
    const std::string_view character = std::string_view(line).substr(at, length);
    const auto* const named = std::find_if(kNamed.begin(), kNamed.end(),
                                           [&](const Named& entry) { return entry.first == character; });
    latex += named == kNamed.end() ? character : named->second;
    at += length;
  }
  return latex;
}

std::string latex(const NamedTable& named) {
  const Table& table = named.table;
  std::string alignment;
  std::string header;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const bool number = std::any_of(table.rows.begin(), table.rows.end(),
                                    [&](const auto& row) { return !row[c].value.empty(); });
    alignment += number ? 'r' : 'l';
    header += (c == 0 ? "" : " & ") + latex_escape(table.columns[c]);
  }
  std::string text = fmt::format(
      "% {}; takes \\usepackage{{booktabs}}\n\\begin{{tabular}}{{{}}}\n\\toprule\n{} \\\\\n\\midrule\n",
      one_line(named.title), alignment, header);
  for (const std::vector<Cell>& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      text += c == 0 ? "" : " & ";
      text += row[c].value.empty() ? latex_escape(row[c].text) : latex_number(row[c].text);
    }
    text += " \\\\\n";
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace convoke::report
