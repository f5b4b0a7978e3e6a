#include "report/paper/gnuplot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "convoke/core/text.hpp"

namespace convoke::report {
namespace {

constexpr double kCharacterMm = 1.6, kLineMm = 3.6;  // approximate, for letters of 8 pt
constexpr double kMostHeightMm = 220;                // height of a page
constexpr const char* kPale = "#99bbdd";             // color of boxes, on which a line is visible

// Writes numbers as a line of data.
std::string data_line(const std::vector<double>& numbers) {
  std::string line;
  for (const double number : numbers)
    line += (line.empty() ? "" : " ") + (std::isfinite(number) ? fmt::format("{:.9g}", number) : "NaN");
  return line;
}

std::string color(const DrawnSeries& series) { return series.style.tone().on_light; }

std::string dash(const DrawnSeries& series) {
  const std::vector<int> lengths = series.style.dash();
  return lengths.empty() ? "dt 1" : fmt::format("dt ({})", fmt::join(lengths, ","));
}

int point_type(const DrawnSeries& series) {
  return series.style.mark().gnuplot - (series.style.apart ? 1 : 0);
}

std::string fill_style(const DrawnSeries& series) {
  constexpr int kFirstHatching = 4;  // number of gnuplot's first hatching pattern
  const int filling = series.style.filling();
  return filling < 2 ? fmt::format("solid {}", filling == 0 ? 1.0 : 0.45)
                     : fmt::format("pattern {}", kFirstHatching + filling - 2);
}

/// Collects data, commands and plots. gnuplot counts columns of data from 1, tables count columns from 0.
class GnuplotCommands {
 public:
  explicit GnuplotCommands(const Drawing& drawing) : drawing_(drawing) {
    line("set encoding utf8");
    line("set border 3 lw 0.5");
    line("set tics nomirror out scale 0.5");
    line("set boxwidth 1 absolute");
  }

  void line(const std::string& command) { script_.commands += command + "\n"; }

  void plot(const std::string& what, const DrawnSeries* series = nullptr) {
    plots_ += (plots_.empty() ? "" : ", \\\n  ") + what +
              (series == nullptr ? " notitle" : " title " + gnuplot_quoted(series->label));
  }

  /// Writes the rows of the table as $name, with ends of intervals clipped to the start of a logarithmic
  /// axis. Names along an axis become the numbers of their rows.
  void data(const std::string& name, std::span<const std::size_t> rows) {
    line("$" + name + " << EOD");
    for (const std::size_t r : rows) {
      std::vector<double> values;
      for (const Cell& cell : drawing_.chart.table.rows[r]) values.push_back(cell.as_double());
      for (const DrawnSeries& series : drawing_.series) {
        for (const std::size_t end : {series.low, series.high}) {
          if (end != 0 && drawing_.values.logarithm != 0 && values[end] < drawing_.values.low)
            values[end] = drawing_.values.low;
        }
      }
      if (is_named()) values.front() = static_cast<double>(r);
      line(data_line(values));
    }
    line("EOD");
  }
  void data() {
    std::vector<std::size_t> rows(drawing_.chart.table.rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = r;
    data("data", rows);
  }

  /// Draws from column `low` to `high` of $data or another block along the axis of values, at `place` on the
  /// other axis.
  void whiskers(const std::string& place, std::size_t low, std::size_t high, const std::string& color,
                const std::string& data = "data") {
    const std::string length = fmt::format("(${}-${})", high + 1, low + 1);
    const std::string ends = drawing_.horizontal ? fmt::format("{}:{}:{}:(0)", low + 1, place, length)
                                                 : fmt::format("{}:{}:(0):{}", place, low + 1, length);
    plot(fmt::format("${} using {} with vectors heads size screen 0.008,90 lc rgb '{}' lw 0.7", data, ends,
                     color));
  }

  /// Returns the whole script, with axes and the legend. Call it once.
  GnuplotScript script() {
    axis(drawing_.horizontal ? 'y' : 'x', drawing_.along);
    axis(drawing_.horizontal ? 'x' : 'y', drawing_.values);
    if (drawing_.chart.kind == Chart::Kind::kScatter) script_.height_mm = 76;
    if (drawing_.chart.kind != Chart::Kind::kScatter)
      line(fmt::format("set grid {}tics lt 1 lc rgb '#dddddd' lw 0.5", drawing_.horizontal ? 'x' : 'y'));
    if (drawing_.text_lines > 0) {
      script_.height_mm = std::min(14 + kLineMm * drawing_.text_lines, kMostHeightMm);
      name_margin();
    }
    legend();
    script_.commands += "plot " + plots_ + "\n";
    return std::move(script_);
  }

 private:
  bool is_named() const {
    return drawing_.chart.kind == Chart::Kind::kBar || drawing_.chart.kind == Chart::Kind::kBox;
  }

  void axis(char which, const Axis& axis) {
    line(fmt::format("set {}label {}", which, gnuplot_quoted(axis.title)));
    if (axis.logarithm != 0) line(fmt::format("set logscale {} {}", which, axis.logarithm));
    // A little beyond the last tick, which gnuplot would omit because of the rounding of logarithms.
    const double high = axis.logarithm != 0 ? axis.high * 1.001 : axis.high;
    const bool downwards = which == 'y' && drawing_.horizontal;
    line(fmt::format("set {}range [{:.9g}:{:.9g}]", which, downwards ? high : axis.low,
                     downwards ? axis.low : high));
    std::vector<std::string> ticks;
    for (const Tick& tick : axis.ticks) ticks.push_back(gnuplot_tick(tick.label, tick.at));
    line(fmt::format("set {}tics ({})", which, join(ticks)));
  }

  // Leaves room for the names of horizontal rows.
  void name_margin() {
    std::size_t longest = 0;
    for (const Tick& tick : drawing_.along.ticks) longest = std::max(longest, character_count(tick.label));
    const double mm = kCharacterMm * static_cast<double>(longest) + (drawing_.along.title.empty() ? 4 : 9);
    line(fmt::format("set lmargin at screen {:.4f}", mm / script_.width_mm));
  }

  // The legend is above the plot, from the left edge of the figure, with as many labels in a row as fit.
  void legend() {
    if (!drawing_.legend) return line("set key off");
    std::size_t longest = 0;
    for (const DrawnSeries& series : drawing_.series)
      longest = std::max(longest, character_count(series.label));
    const double entry_mm = 1.2 * kCharacterMm * static_cast<double>(longest) + 12;  // as gnuplot computes it
    const double in_a_row = std::max(1.0, std::floor(script_.width_mm / entry_mm));
    constexpr double kSpacing = 1.25;  // line spacing of the key; the topmost number of the axis is below it
    const double mm =
        kSpacing * kLineMm * std::ceil(static_cast<double>(drawing_.series.size()) / in_a_row) + 2.5;
    script_.height_mm = std::min(script_.height_mm + mm, kMostHeightMm);
    line(fmt::format("set tmargin at screen {:.4f}", 1 - (mm + 1) / script_.height_mm));
    line(fmt::format("set key at screen 0.01, screen 1 left top Left reverse horizontal maxcols {} samplen 2",
                     in_a_row));
  }

  const Drawing& drawing_;
  GnuplotScript script_;
  std::string plots_;
};

// A function for each kind of chart.

// Each series begins where the ones before it end.
void draw_stacked_bars(const Drawing& drawing, GnuplotCommands& gnuplot) {
  constexpr double kHalf = 0.35;  // of a bar's width
  gnuplot.data();
  std::string low = "(0";
  for (const DrawnSeries& series : drawing.series) {
    const std::string high = fmt::format("{}+${}", low, series.column + 1);
    const std::string low_end = low + ")", high_end = high + ")";
    const std::string sides = fmt::format("($1-{0}):($1+{0})", kHalf);
    const std::string box = drawing.horizontal ? fmt::format("{0}:1:{1}:{0}:{2}", high_end, low_end, sides)
                                               : fmt::format("1:{0}:{2}:{1}:{0}", high_end, low_end, sides);
    gnuplot.plot(fmt::format("$data using {} with boxxyerror fs {} border lc rgb 'black' lc rgb '{}' lw 0.4",
                             box, fill_style(series), color(series)),
                 &series);
    low = high;
  }
}

void draw_bars(const Drawing& drawing, GnuplotCommands& gnuplot) {
  if (drawing.chart.stacked) return draw_stacked_bars(drawing, gnuplot);
  const auto count = static_cast<double>(drawing.series.size());
  const double width = 0.8 / count;
  gnuplot.data();
  for (std::size_t s = 0; s < drawing.series.size(); ++s) {
    const DrawnSeries& series = drawing.series[s];
    const double offset = (static_cast<double>(s) - (count - 1) / 2) * width;
    const std::string place = fmt::format("($1{:+.4f})", offset);
    const std::string style = fmt::format("fs {} {} lc rgb '{}' lw 0.4", fill_style(series),
                                          drawing.many ? "noborder" : "border lc rgb 'black'", color(series));
    const std::size_t value = series.column + 1;
    if (drawing.horizontal) {
      gnuplot.plot(
          fmt::format("$data using {2}:{0}:({1:g}):{2}:($1{3:+.4f}):($1{4:+.4f}) with boxxyerror {5}", place,
                      drawing.values.low, value, offset - width / 2, offset + width / 2, style),
          &series);
    } else {
      gnuplot.plot(fmt::format("$data using {}:{}:({:.4f}) with boxes {}", place, value, width, style),
                   &series);
    }
    if (series.high != 0) gnuplot.whiskers(place, series.low, series.high, "black");
  }
}

void draw_histogram(const Drawing& drawing, GnuplotCommands& gnuplot) {
  const std::vector<double> edges = bin_edges(drawing.chart.table);
  gnuplot.line("$data << EOD");  // start and end of a bin, and its values; the last row twice, for steps
  for (std::size_t edge = 0; edge < edges.size(); ++edge) {
    const std::size_t bin = std::min(edge, edges.size() - 2);
    std::vector<double> values{edges[edge], edges[bin + 1]};
    for (const DrawnSeries& series : drawing.series)
      values.push_back(drawing.chart.table.rows[bin][series.column].as_double());
    gnuplot.line(data_line(values));
  }
  gnuplot.line("EOD");
  for (std::size_t s = 0; s < drawing.series.size(); ++s) {
    const DrawnSeries& series = drawing.series[s];
    gnuplot.plot(drawing.series.size() == 1
                     ? fmt::format("$data using (($1+$2)/2):3:($2-$1) with boxes fs solid 1.0 border lc rgb "
                                   "'{0}' lc rgb '{0}' lw 0.3",
                                   color(series))
                     : fmt::format("$data using 1:{} with steps lc rgb '{}' {} lw 1.2", s + 3, color(series),
                                   dash(series)),
                 &series);
  }
}

void draw_lines(const Drawing& drawing, GnuplotCommands& gnuplot) {
  gnuplot.data();
  gnuplot.line("set datafile missing 'NaN'");         // lines continue across missing values, e.g. between
                                                      // validations within an epoch
  for (const DrawnSeries& series : drawing.series) {  // bands are drawn below lines
    if (series.high == 0 || !drawing.many) continue;
    gnuplot.plot(
        fmt::format("$data using 1:{}:{} with filledcurves fs transparent solid 0.2 noborder lc rgb '{}'",
                    series.low + 1, series.high + 1, color(series)));
  }
  for (const DrawnSeries& series : drawing.series) {
    if (series.high != 0 && !drawing.many) gnuplot.whiskers("1", series.low, series.high, color(series));
    const std::string line = fmt::format("lc rgb '{}' lw 1.2 {}", color(series), dash(series));
    gnuplot.plot(drawing.many ? fmt::format("$data using 1:{} with lines {}", series.column + 1, line)
                              : fmt::format("$data using 1:{} with linespoints {} pt {} ps 0.45",
                                            series.column + 1, line, point_type(series)),
                 &series);
  }
}

void draw_scatter(const Drawing& drawing, GnuplotCommands& gnuplot) {
  for (std::size_t s = 0; s < drawing.series.size(); ++s) {
    const DrawnSeries& series = drawing.series[s];
    const std::string name = fmt::format("group{}", s);
    gnuplot.data(name, series.rows);
    if (series.high != 0) gnuplot.whiskers("1", series.low, series.high, color(series), name);
    gnuplot.plot(fmt::format("${} using 1:2 with points pt {} ps {} lw 0.5 lc rgb '{}'", name,
                             point_type(series), drawing.many ? 0.25 : 0.4, color(series)),
                 &series);
  }
}

// Columns: name, minimum, low, quartile, median, quartile, high, maximum.
void draw_boxes(const Drawing&, GnuplotCommands& gnuplot) {
  gnuplot.data();
  gnuplot.whiskers("1", 2, 6, "black");
  gnuplot.plot(
      fmt::format("$data using 5:1:4:6:($1-0.3):($1+0.3) with boxxyerror fs solid 1.0 border lc rgb 'black' "
                  "lc rgb '{}' lw 0.5",
                  kPale));
  gnuplot.plot("$data using 5:($1-0.3):(0):(0.6) with vectors nohead lc rgb 'black' lw 1.5");
  for (const int end : {2, 8})
    gnuplot.plot(fmt::format("$data using {}:1 with points pt 6 ps 0.3 lc rgb 'black' lw 0.5", end));
}

using Draw = void (*)(const Drawing&, GnuplotCommands&);
constexpr std::array<Draw, 5> kDraw{draw_bars, draw_histogram, draw_lines, draw_scatter, draw_boxes};

}  // namespace

GnuplotScript gnuplot_script(const Drawing& drawing) {
  GnuplotCommands gnuplot(drawing);
  kDraw[static_cast<std::size_t>(drawing.chart.kind)](drawing, gnuplot);
  return gnuplot.script();
}

std::string gnuplot_tick(std::string_view label, double at) {
  std::string format = gnuplot_quoted(label);
  for (std::size_t i = 0; (i = format.find('%', i)) != std::string::npos; i += 2) format.insert(i, "%");
  return fmt::format("{} {:.9g}", format, at);
}

std::string gnuplot_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace convoke::report
