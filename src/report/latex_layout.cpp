#include "latex_layout.hpp"

#include <algorithm>
#include <numeric>

#include "convoke/core/utf8.hpp"

namespace convoke::report {
namespace {

constexpr double kLineEm = 32, kNormalGapEm = 0.6;  // of an article's line, to each side of a column
constexpr std::size_t kManyRows = 30, kManyWrappedRows = 12;

double width_em(std::string_view text) {
  constexpr double kNarrow = 0.35, kDigit = 0.5, kWide = 0.8;
  double width = 0;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(utf8_length(text), 1);
    const char c = text.front();
    const auto one_of = [&](std::string_view characters) { return characters.find(c) != characters.npos; };
    const bool wide = length > 1 || (c >= 'A' && c <= 'Z') || one_of("mw%&@+-<=>_");
    width += wide ? kWide : one_of(" .,:()[]ijl") ? kNarrow : kDigit;
    text.remove_prefix(length);
  }
  return width;
}

// The widest piece of a text that is not broken: lines break at blanks and behind hyphens, between numbers at
// blanks only, or not at all.
double widest_piece_em(std::string_view text, std::string_view breaks) {
  double widest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(breaks), text.size() - 1) + 1;
    widest = std::max(widest, width_em(text.substr(0, end)));
    text.remove_prefix(end);
  }
  return widest;
}

// Of each column.
std::vector<double> widest_pieces_em(const Table& table, std::string_view of_texts,
                                     std::string_view of_numbers) {
  std::vector<double> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    widths.push_back(widest_piece_em(table.columns[c], of_texts));
    for (const std::vector<Cell>& row : table.rows)
      widths[c] =
          std::max(widths[c], widest_piece_em(row[c].text, row[c].value.empty() ? of_texts : of_numbers));
  }
  return widths;
}

double sum(const std::vector<double>& widths) { return std::accumulate(widths.begin(), widths.end(), 0.0); }

}  // namespace

LatexLayout latex_layout(const Table& table) {
  const std::vector<double> whole = widest_pieces_em(table, "", "");
  const double gaps = 2.0 * static_cast<double>(table.columns.size() - 1);
  LatexLayout layout;
  layout.breaks = table.rows.size() > kManyRows;
  layout.gaps_em = kLatexGapEm * gaps;
  if (!layout.breaks && sum(whole) + kNormalGapEm * gaps <= kLineEm) return layout;
  for (const LatexSize& size : {kLatexSmall, kLatexTiny}) {
    layout.size = size.command;
    const double room = size.line_em - layout.gaps_em;
    if (sum(whole) <= room) return layout;
    for (const char* const breaks_of_numbers : {"", " "}) {
      layout.widths = widest_pieces_em(table, " -", breaks_of_numbers);
      const double least = sum(layout.widths);
      if (least > room) continue;
      for (std::size_t c = 0; c < whole.size(); ++c)
        layout.widths[c] += (whole[c] - layout.widths[c]) * (room - least) / (sum(whole) - least);
      layout.breaks = table.rows.size() > kManyWrappedRows;
      return layout;
    }
  }
  layout.breaks = false;
  if (table.rows.size() > kManyWrappedRows) layout.widths.clear();  // or it would be higher than a page
  return layout;
}

}  // namespace convoke::report
