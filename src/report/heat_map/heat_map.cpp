#include "convoke/report/heat_map.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

#include "convoke/core/text.hpp"
#include "report/chart/drawing.hpp"
#include "report/page/html.hpp"
#include "report/paper/gnuplot.hpp"

namespace convoke::report {
namespace {

Value::Array texts(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

constexpr std::size_t kTicks = 20, kTickCharacters = 14;

// Names along an axis; of very many, every n-th.
std::string names_along(char axis, const std::vector<std::string>& names) {
  const std::size_t every = (names.size() + kTicks - 1) / kTicks;
  const std::map<std::string, std::string> labels = distinct_names(names, kTickCharacters);
  std::vector<std::string> ticks;
  for (std::size_t i = 0; i < names.size(); i += every)
    ticks.push_back(gnuplot_tick(one_line(labels.at(names[i])), static_cast<double>(i)));
  return fmt::format("set {}tics ({}){}\n", axis, join(ticks), axis == 'x' ? " rotate by 90 right" : "");
}

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

GnuplotScript gnuplot_script(const HeatMap& map) {
  GnuplotScript script{.points = 6};
  script.height_mm = script.width_mm;
  std::vector<double> shades(map.rows.size() * map.columns.size());
  for (const HeatMap::Cell& cell : map.cells)
    shades[cell.row * map.columns.size() + cell.column] = cell.shade;
  std::string& commands = script.commands;
  commands = "set encoding utf8\n$shades << EOD\n";
  for (std::size_t i = 0; i < shades.size(); ++i)
    commands += fmt::format("{:.3g}{}", shades[i], (i + 1) % map.columns.size() == 0 ? "\n" : " ");
  commands += "EOD\nset border lw 0.5\nset tics nomirror out scale 0.3\nunset colorbox\nunset key\n";
  commands += "set palette defined (-1 '#c85014', 0 'white', 1 '#1f77b4')\nset cbrange [-1:1]\n";
  commands += fmt::format("set xrange [-0.5:{}.5]\nset yrange [{}.5:-0.5]\n", map.columns.size() - 1,
                          map.rows.size() - 1);
  commands += names_along('x', map.columns) + names_along('y', map.rows);
  commands += fmt::format("set xlabel {}\nset ylabel {}\n", gnuplot_quoted(one_line(map.column_title)),
                          gnuplot_quoted(one_line(map.row_title)));
  commands += "plot $shades matrix with image\n";
  return script;
}

}  // namespace convoke::report
