#include "convoke/report/heat_map.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "report/page/html.hpp"

namespace convoke::report {
namespace {

Value::Array texts(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

}  // namespace

std::string HeatMap::html() const {
  return fmt::format(
      "<figure class=heat>\n<figcaption>{0}</figcaption>\n{1}"
      "<div class=tools role=group aria-label=\"Zoom: {0}\"><button type=button data-zoom=in>Zoom in</button>"
      "<button type=button data-zoom=out>Zoom out</button><button type=button data-zoom=all>Show all</button>"
      "</div>\n"
      "<canvas tabindex=0 role=application aria-label=\"{0}: {2} by {3} cells. The arrow keys move the "
      "cursor, "
      "plus and minus zoom, 0 shows all, N jumps to the next cell that is not 0.\"></canvas>\n"
      "<p class=cell role=status>Point at a cell, or move the cursor with the arrow keys. Plus and minus (or "
      "Ctrl and the wheel) zoom; drag to move.</p>\n</figure>\n",
      escape(title), note.empty() ? "" : fmt::format("<p class=note>{}</p>\n", escape(note)), rows.size(),
      columns.size());
}

Settings HeatMap::settings() const {
  constexpr double kShades = 1000;  // steps of the shade: fewer digits in the page
  Value::Array numbers;
  for (const Cell& cell : cells) {
    numbers.emplace_back(static_cast<std::int64_t>(cell.row));
    numbers.emplace_back(static_cast<std::int64_t>(cell.column));
    numbers.emplace_back(cell.value);
    numbers.emplace_back(std::round(kShades * cell.shade) / kShades);
  }
  return {{"row", row_title},    {"column", column_title},    {"unit", unit},
          {"rows", texts(rows)}, {"columns", texts(columns)}, {"cells", std::move(numbers)}};
}

Table HeatMap::table() const {
  Table table{{row_title, column_title, unit.empty() ? "value" : unit}, {}};
  for (const Cell& cell : cells) {
    const bool whole = cell.value == std::round(cell.value);
    table.rows.push_back(
        {rows[cell.row], columns[cell.column],
         whole ? report::Cell::count(std::llround(cell.value)) : report::Cell::number(cell.value)});
  }
  return table;
}

}  // namespace convoke::report
