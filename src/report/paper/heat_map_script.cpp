#include <fmt/format.h>

#include <map>

#include "convoke/core/text.hpp"
#include "report/chart/distinct_names.hpp"
#include "report/paper/gnuplot.hpp"

namespace convoke::report {
namespace {

constexpr double kHeatMapMm = 84;
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

GnuplotScript gnuplot_script(const HeatMap& map) {
  GnuplotScript script{.width_mm = kHeatMapMm, .height_mm = kHeatMapMm, .points = 6};
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
