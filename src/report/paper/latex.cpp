#include "report/paper/latex.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "convoke/core/pattern.hpp"
#include "convoke/core/text.hpp"

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
                                        {"[", "{[}"},  // after \\ it would begin an option
                                        {"*", "{*}"},
                                        {"-", "-{}"},  // prevents that two become a dash
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

constexpr std::size_t kRowsOfPage = 30, kWrappedRowsOfPage = 12;  // above this, a table breaks across pages
constexpr double kEmPerCharacter = 0.55, kGapEm = 0.4;  // gap on each side of a column, for small letters

/// A size of letters, and the minimal line width of an A4 article of 10, 11 or 12 pt in its em.
struct LetterSize {
  const char* command;
  double line_em, gap_em;
};
constexpr LetterSize kNormalSize{"", 32, 0.6};
constexpr std::array kSmallSizes{LetterSize{"\\scriptsize", 42, kGapEm}, LetterSize{"\\tiny", 50, kGapEm}};

// Returns the number of characters of all columns that fit into a line.
double room_for(const LetterSize& size, std::size_t columns) {
  return (size.line_em - 2 * size.gap_em * static_cast<double>(columns - 1)) / kEmPerCharacter;
}

bool holds_numbers(const Table& table, std::size_t column) {
  return std::ranges::any_of(table.rows, [&](const auto& row) { return !row[column].value.empty(); });
}

// Returns the length in characters; capital letters count one and a half.
double longest_piece(const std::string& text, std::string_view breaks) {
  double longest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(breaks, begin), text.size() - 1) + 1;
    const std::string piece = text.substr(begin, end - begin);
    const auto capitals = std::ranges::count_if(piece, [](char c) { return c >= 'A' && c <= 'Z'; });
    longest =
        std::max(longest, static_cast<double>(character_count(piece)) + 0.5 * static_cast<double>(capitals));
    begin = end;
  }
  return longest;
}

// Returns the characters of the longest piece in each column. Texts break at `text_breaks`, numbers at
// `number_breaks`.
std::vector<double> longest_pieces(const Table& table, const char* text_breaks, const char* number_breaks) {
  std::vector<double> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    double longest = longest_piece(table.columns[c], text_breaks);
    for (const auto& row : table.rows) {
      longest =
          std::max(longest, longest_piece(row[c].text, row[c].value.empty() ? text_breaks : number_breaks));
    }
    widths.push_back(longest);
  }
  return widths;
}

double sum(const std::vector<double>& widths) { return std::accumulate(widths.begin(), widths.end(), 0.0); }

/// Columns whose cells wrap: their size of letters, and their widths in characters. Without widths no cell
/// wraps.
struct Wrapped {
  const char* size = "";
  std::vector<double> widths = {};
};

// As in CSS 2.1 (17.5.2.2), each column has room for its longest word, and the rest of the line is shared in
// proportion to the further width that each column needs. Numbers wrap only if there is no other way.
Wrapped wrapped(const Table& table) {
  const std::vector<double> whole = longest_pieces(table, "", "");
  for (const LetterSize& size : kSmallSizes) {
    const double room = room_for(size, table.columns.size());
    for (const char* const number_breaks : {"", " "}) {
      Wrapped columns{size.command, longest_pieces(table, " -", number_breaks)};
      const double least = sum(columns.widths), more = sum(whole) - least;
      if (least > room) continue;
      const double share = more > 0 ? std::min(1.0, (room - least) / more) : 0;
      for (std::size_t c = 0; c < whole.size(); ++c)
        columns.widths[c] += share * (whole[c] - columns.widths[c]);
      return columns;
    }
  }
  Wrapped columns{kSmallSizes.back().command};  // too wide in any size: the table is shrunk to the line
  if (table.rows.size() <= kWrappedRowsOfPage) columns.widths = longest_pieces(table, " -", " ");
  return columns;
}

// The numbers of a cell, "-1.5e-05 to 0.2", with minus signs and powers of ten.
std::string latex_numbers(const std::string& text) {
  static const Pattern kNumber(R"re((^|[ (])(-?)(\d[\d.,]*)(?:e([+-]?\d+))?)re");
  std::string latex;
  std::size_t rest = 0;
  for (const Match& found : all_matches(text, kNumber)) {
    const std::size_t begin = text.find(found[0], rest);
    latex += latex_escape(text.substr(rest, begin - rest) + found[1]);
    latex += found[2].empty() ? "" : "$-$";
    latex += found[4].empty() ? found[3] : fmt::format("${}\\cdot10^{{{}}}$", found[3], std::stoi(found[4]));
    rest = begin + found[0].size();
  }
  return latex + latex_escape(text.substr(rest));
}

std::string latex_cell(const Cell& cell) {
  return cell.value.empty() ? latex_escape(cell.text) : latex_numbers(one_line(cell.text));
}

std::string line_of(const std::vector<std::string>& cells) { return join(cells, " & ") + " \\\\\n"; }

// Aligns numbers to the right; `width`: width of a column that wraps, in LaTeX, from its share of the line.
template <class Width>
std::string column_types(const Table& table, const Wrapped& columns, const Width& width) {
  std::string types = "@{}";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const bool number = holds_numbers(table, c);
    types += columns.widths.empty()
                 ? std::string(number ? "r" : "l")
                 : fmt::format(">{{\\ragged{}\\arraybackslash{}", number ? "left" : "right",
                               width(columns.widths[c] / sum(columns.widths)));
  }
  return types + "@{}";
}

}  // namespace

std::string latex_escape(std::string_view text) {
  const std::string line = one_line(text);
  std::string latex;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t length = utf8_length(std::string_view(line).substr(at));
    const std::string_view character = std::string_view(line).substr(at, length);
    const auto* const named =
        std::ranges::find_if(kNamed, [&](const Named& entry) { return entry.first == character; });
    latex += named == kNamed.end() ? character : named->second;
    at += length;
  }
  return latex;
}

std::string latex(const NamedTable& named) {
  const Table& table = named.table;
  const auto count = static_cast<double>(table.columns.size());
  const bool fits = sum(longest_pieces(table, "", "")) <= room_for(kNormalSize, table.columns.size());
  const bool tall = table.rows.size() > kRowsOfPage;
  const Wrapped columns = fits && !tall ? Wrapped() : wrapped(table);
  const bool wraps = !columns.widths.empty();
  const bool breaks = wraps && table.rows.size() > kWrappedRowsOfPage;

  std::vector<std::string> cells;
  std::transform(table.columns.begin(), table.columns.end(), std::back_inserter(cells), latex_escape);
  const std::string header = "\\toprule\n" + line_of(cells) + "\\midrule\n";
  std::string rows;
  for (const std::vector<Cell>& row : table.rows) {
    std::transform(row.begin(), row.end(), cells.begin(), latex_cell);
    rows += line_of(cells);
  }

  std::string packages = "booktabs", set;
  if (breaks) {
    packages += ", array, longtable";
    const std::string types = column_types(table, columns, [&](double share) {
      return fmt::format("}}p{{{:.4f}\\dimexpr\\linewidth-{:g}\\tabcolsep\\relax}}", share, 2 * (count - 1));
    });
    set =
        fmt::format("\\begin{{longtable}}{{{}}}\n{}\\endhead\n\\bottomrule\n\\endfoot\n{}\\end{{longtable}}",
                    types, header, rows);
  } else {
    packages += wraps ? ", graphicx, tabularx" : ", graphicx";
    const std::string types = column_types(
        table, columns, [&](double share) { return fmt::format("\\hsize={:.4f}\\hsize}}X", share * count); });
    const std::string begin =
        wraps ? fmt::format("tabularx}}{{{:.1f}em}}",
                            kEmPerCharacter * sum(columns.widths) + 2 * kGapEm * (count - 1))
              : "tabular}";
    set = fmt::format(
        "\\noindent\\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%\n"
        "\\begin{{{}{{{}}}\n{}{}\\bottomrule\n\\end{{{}}}}}",
        begin, types, header, rows, wraps ? "tabularx" : "tabular");
  }
  std::string lengths;
  if (*columns.size != '\0')
    lengths = fmt::format("{}\\setlength{{\\tabcolsep}}{{{}em}}", columns.size, kGapEm);
  if (wraps) lengths += "\\setlength{\\extrarowheight}{2pt}";  // gap between rows of several lines
  return fmt::format("% {}; needs \\usepackage{{{}}}\n{{{}%\n{}}}\n", one_line(named.title), packages,
                     lengths, set);
}

}  // namespace convoke::report
