#include "convoke/report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "report/page/html.hpp"

namespace convoke::report {

std::vector<std::size_t> Chart::series() const {
  std::vector<std::size_t> columns;
  for (std::size_t c = 1; c < table.columns.size(); ++c) {
    const bool end =
        std::ranges::any_of(intervals, [&](const Interval& i) { return i.low == c || i.high == c; });
    if (!end) columns.push_back(c);
  }
  return columns;
}

std::vector<std::string> Chart::names() const {
  std::vector<std::string> names;
  if (kind == Kind::kBox) return names;
  if (kind != Kind::kScatter) {
    for (const std::size_t column : series()) names.push_back(table.columns[column]);
    return names;
  }
  using Rank = std::tuple<bool, double, std::string>;  // numbers come first
  std::set<Rank> groups;
  for (const std::vector<Cell>& row : table.rows) {
    const bool word = row[2].value.empty();
    groups.emplace(word, word ? 0 : row[2].as_double(), row[2].text);
  }
  for (const Rank& group : groups) names.push_back(std::get<2>(group));
  return names;
}

const Chart::Interval* Chart::interval_of(std::size_t column) const {
  const auto found =
      std::ranges::find_if(intervals, [&](const Interval& interval) { return interval.of == column; });
  return found == intervals.end() ? nullptr : &*found;
}

std::string Chart::html() const {
  const std::string name = escape(title);
  return fmt::format(
      "<figure class=chart>\n<figcaption>{0}</figcaption>\n"
      "<div class=\"plot{1}\"><canvas role=img aria-label=\"{0}: a chart of the numbers that follow\">"
      "</canvas></div>\n{2}"
      "<details><summary aria-label=\"The numbers: {0}\">The numbers</summary>\n{3}</details>\n</figure>\n",
      name, kind == Kind::kScatter ? " map" : "",
      note.empty() ? "" : fmt::format("<p class=note>{}</p>\n", escape(note)), table.html(title));
}

}  // namespace convoke::report
