#include "script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "plot.hpp"
#include "style.hpp"

// A function for each kind of chart.

namespace convoke::report {
namespace {

constexpr std::size_t kManyRows = 14;         // beyond which bars lie
constexpr std::size_t kManyPoints = 40;       // beyond which lines have no marks, bars no edges
constexpr std::size_t kCloudOfPoints = 1000;  // beyond which points are small

void draw_bars(const Chart& chart, std::span<const Look> looks, Plot& plot) {
  const std::vector<std::size_t> series = chart.series();
  const bool lying = chart.table.rows.size() > kManyRows || !plot.names_fit();
  const double width = 0.8 / static_cast<double>(series.size());
  // Lying bars begin at a number, which on a logarithmic axis is not zero.
  const double origin = chart.logarithmic ? plot.decade() : 0;
  plot.data(true);
  plot.value_axis(lying ? 'x' : 'y', true);
  plot.name_axis(lying ? 'y' : 'x');
  if (lying) {
    const double row_mm = kLineMm * std::max(1.0, 0.6 * static_cast<double>(series.size()));
    plot.set_height(14 + row_mm * static_cast<double>(chart.table.rows.size()));
  }
  for (std::size_t s = 0; s < series.size(); ++s) {
    const double offset = (static_cast<double>(s) - (static_cast<double>(series.size()) - 1) / 2) * width;
    const std::string place = fmt::format("($1{:+.4f})", offset);
    const char* const border = chart.table.rows.size() > kManyPoints ? "noborder" : "border lc rgb 'black'";
    const std::string style =
        fmt::format("fs {} {} lc rgb '{}' lw 0.4", filling(looks[s]), border, colour(looks[s]));
    const std::size_t value = series[s] + 1;
    if (lying) {
      plot.named(chart.table.columns[series[s]],
                 fmt::format("$data using {2}:{0}:({1:g}):{2}:($1{3:+.4f}):($1{4:+.4f}) with boxxyerror {5}",
                             place, origin, value, offset - width / 2, offset + width / 2, style));
    } else {
      plot.named(chart.table.columns[series[s]],
                 fmt::format("$data using {}:{}:({:.4f}) with boxes {}", place, value, width, style));
    }
    if (const Chart::Interval* const interval = chart.interval_of(series[s])) {
      plot.whiskers(lying, place, interval->low, interval->high, "black");
    }
  }
}

// Bins end where the next begins, the last one is as wide as that before.
void draw_histogram(const Chart& chart, std::span<const Look> looks, Plot& plot) {
  const std::size_t count = chart.table.rows.size();
  std::vector<std::vector<double>> rows;
  for (std::size_t r = 0; r < count; ++r) {
    std::vector<double>& row = rows.emplace_back();
    const double begin = number_of(chart.table.rows[r].front());
    row.push_back(begin);
    for (std::size_t c = 1; c < chart.table.columns.size(); ++c)
      row.push_back(number_of(chart.table.rows[r][c]));
    const std::size_t next = r + 1 < count ? r + 1 : r;
    const double width =
        count < 2 ? 1
                  : number_of(chart.table.rows[next].front()) - number_of(chart.table.rows[next - 1].front());
    row.push_back(begin + width);
  }
  const std::size_t end = chart.table.columns.size() + 1;
  if (!rows.empty()) {  // steps are drawn to where the last bin ends
    std::vector<double> last = rows.back();
    last.front() = last.back();
    rows.push_back(std::move(last));
  }
  plot.data("data", rows);
  plot.line(fmt::format("set xlabel {}", axis_title(chart.x_title)));
  plot.value_axis('y', true);
  const std::vector<std::size_t> series = chart.series();
  for (std::size_t s = 0; s < series.size(); ++s) {
    const std::string& name = chart.table.columns[series[s]];
    if (series.size() == 1) {
      plot.named(name,
                 fmt::format("$data using (($1+${0})/2):{1}:(${0}-$1) with boxes fs solid 1.0 border lc rgb "
                             "'{2}' lc rgb '{2}' lw 0.3",
                             end, series[s] + 1, colour(looks[s])));
    } else {
      plot.named(name, fmt::format("$data using 1:{} with steps lc rgb '{}' {} lw 1.2", series[s] + 1,
                                   colour(looks[s]), dash(looks[s])));
    }
  }
}

void draw_lines(const Chart& chart, std::span<const Look> looks, Plot& plot) {
  const std::vector<std::size_t> series = chart.series();
  const bool marked = chart.table.rows.size() <= kManyPoints;
  plot.data(false);
  plot.line("set datafile missing 'NaN'");  // joined across: rows of validations say nothing of training
  plot.number_axis();
  plot.value_axis('y', chart.from_zero);
  for (std::size_t s = 0; s < series.size() && !marked; ++s) {  // bands lie below lines
    const Chart::Interval* const interval = chart.interval_of(series[s]);
    if (interval == nullptr) continue;
    plot.unnamed(
        fmt::format("$data using 1:{}:{} with filledcurves fs transparent solid 0.2 noborder lc rgb '{}'",
                    interval->low + 1, interval->high + 1, colour(looks[s])));
  }
  for (std::size_t s = 0; s < series.size(); ++s) {
    const std::size_t value = series[s] + 1;
    const std::string style = fmt::format("lc rgb '{}' lw 1.2", colour(looks[s]));
    const Chart::Interval* const interval = chart.interval_of(series[s]);
    if (interval != nullptr && marked) {
      plot.whiskers(false, "1", interval->low, interval->high, colour(looks[s]));
    }
    plot.named(chart.table.columns[series[s]],
               marked ? fmt::format("$data using 1:{} with linespoints {} {} pt {} ps 0.45", value, style,
                                    dash(looks[s]), mark(looks[s]))
                      : fmt::format("$data using 1:{} with lines {} {}", value, style, dash(looks[s])));
  }
}

void draw_scatter(const Chart& chart, std::span<const Look> looks, Plot& plot) {
  const Chart::Interval* const interval = chart.interval_of(1);
  const std::vector<std::string> names = chart.names();
  std::vector<std::vector<std::vector<double>>> groups(names.size());
  for (const std::vector<Cell>& row : chart.table.rows) {
    const auto group = std::find(names.begin(), names.end(), row[2].text) - names.begin();
    std::vector<double>& point = groups[static_cast<std::size_t>(group)].emplace_back();
    point = {number_of(row[0]), number_of(row[1])};
    if (interval == nullptr) continue;
    point.push_back(number_of(row[interval->low]));
    point.push_back(number_of(row[interval->high]));
  }
  plot.set_height(76);
  plot.line(fmt::format("set xlabel {}", axis_title(chart.x_title)));
  plot.line(fmt::format("set ylabel {}", axis_title(chart.y_title)));
  plot.line("set offsets graph 0.04, graph 0.04, graph 0.04, graph 0.04");
  if (chart.most) plot.line(fmt::format("set yrange [*:*<{:g}]", *chart.most));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::string name = fmt::format("group{}", g);
    plot.data(name, groups[g]);
    if (interval != nullptr) plot.whiskers(false, "1", 2, 3, colour(looks[g]), name);
    plot.named(names[g],
               fmt::format("${} using 1:2 with points pt {} ps {} lw 0.5 lc rgb '{}'", name, mark(looks[g]),
                           chart.table.rows.size() > kCloudOfPoints ? 0.25 : 0.4, colour(looks[g])));
  }
}

// Columns: name, least, low, quartile, median, quartile, high, largest.
void draw_boxes(const Chart& chart, std::span<const Look>, Plot& plot) {
  plot.data(true);
  plot.value_axis('x', false);
  plot.name_axis('y');
  plot.set_height(14 +
                  (kLineMm + 1) * static_cast<double>(std::max<std::size_t>(chart.table.rows.size(), 3)));
  plot.whiskers(true, "1", 2, 6, "black");
  plot.unnamed(
      fmt::format("$data using 5:1:4:6:($1-0.3):($1+0.3) with boxxyerror fs solid 1.0 border lc rgb 'black' "
                  "lc rgb '{}' lw 0.5",
                  kPale));
  plot.unnamed("$data using 5:($1-0.3):(0):(0.6) with vectors nohead lc rgb 'black' lw 1.5");
  for (const int end : {2, 8})
    plot.unnamed(fmt::format("$data using {}:1 with points pt 6 ps 0.3 lc rgb 'black' lw 0.5", end));
}

using Draw = void (*)(const Chart&, std::span<const Look>, Plot&);
constexpr std::array<Draw, 5> kKinds{draw_bars, draw_histogram, draw_lines, draw_scatter, draw_boxes};

}  // namespace

GnuplotScript gnuplot_script(const Chart& chart, std::span<const Look> looks) {
  Plot plot(chart);
  kKinds[static_cast<std::size_t>(chart.kind)](chart, looks, plot);
  return plot.script();
}

}  // namespace convoke::report
