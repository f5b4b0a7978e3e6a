#include "gnuplot_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "convoke/core/utf8.hpp"

namespace convoke::report {
namespace {

// Colours that remain distinct with any colour blindness (Tol, "Colour schemes", SRON/EPS/TN/09-002, issue
// 3.2, 2021): high contrast, which differ in grey, too, then of the bright and the muted scheme.
constexpr std::array kColours{"#004488", "#ddaa33", "#bb5566", "#228833", "#66ccee",
                              "#aa3377", "#222222", "#ee7733", "#999933", "#88ccee"};
constexpr const char* kPale = "#99bbdd";                       // of boxes, on which a line is seen
constexpr std::array kMarks{7, 5, 9, 13, 6, 4, 8, 12, 11, 2};  // filled circle, square, triangle, ...
constexpr int kDashes = 5;
constexpr std::size_t kSolids = 3;  // fillings of bars; further ones are hatched
constexpr int kFirstHatching = 4, kHatchings = 4;

constexpr std::size_t kManyRows = 14;    // beyond which bars lie
constexpr std::size_t kManyPoints = 40;  // beyond which lines have no marks
constexpr std::size_t kManyGroups = 24;  // beyond which there is no legend
constexpr std::size_t kNameCharacters = 24, kTitleCharacters = 40, kNarrowTitleCharacters = 28;
constexpr double kCharacterMm = 1.6, kLineMm = 3.6;  // of 8 pt, about
constexpr double kPlotMm = 68;                       // of the width, about, what axes leave
constexpr double kMostHeightMm = 220;                // of a page

std::string colour(std::size_t series) { return kColours[series % kColours.size()]; }
int mark(std::size_t series) { return kMarks[series % kMarks.size()]; }
int dash(std::size_t series) { return static_cast<int>(series) % kDashes + 1; }

// Channels of pictures have the colour that they are.
std::string colour(std::size_t series, std::string_view name) {
  if (name == "red") return "#bb5566";
  if (name == "green") return "#228833";
  if (name == "blue") return "#004488";
  if (name == "grey") return "#777777";
  return colour(series);
}

std::string filling(std::size_t series) {
  if (series < kSolids) return "solid 1.0";
  return fmt::format("pattern {}", kFirstHatching + static_cast<int>(series - kSolids) % kHatchings);
}

std::string quoted(std::string_view text) { return gnuplot_quoted(one_line(text)); }

// Of an axis; the plot is narrower where names stand beside it.
std::string title(std::string_view text, bool narrow = false) {
  return gnuplot_quoted(shortened(one_line(text), narrow ? kNarrowTitleCharacters : kTitleCharacters));
}

double number_of(const Cell& cell) {
  if (cell.value.empty()) return std::numeric_limits<double>::quiet_NaN();
  return std::strtod(cell.value.c_str(), nullptr);
}

std::string text_of(double number) {
  return std::isfinite(number) ? fmt::format("{:.9g}", number) : std::string("NaN");
}

// What a drawing is made of; each kind of chart adds its part.
class Script {
 public:
  explicit Script(const Chart& chart) : chart_(chart), table_(chart.table) {
    for (const std::vector<Cell>& row : table_.rows) {
      for (std::size_t c = 1; c < row.size(); ++c) take_extent(number_of(row[c]));
    }
    line("set encoding utf8");
    line("set border 3 lw 0.5");
    line("set tics nomirror out scale 0.5");
    line("set boxwidth 1 absolute");
  }

  GnuplotScript drawing() {
    legend();
    script_.height_mm = std::min(script_.height_mm, kMostHeightMm);
    script_.commands += "plot " + plots_ + "\n";
    return std::move(script_);
  }

  void bars();
  void histogram();
  void lines();
  void scatter();
  void boxes();

 private:
  void line(const std::string& command) { script_.commands += command + "\n"; }
  void plot(const std::string& what) { plots_ += (plots_.empty() ? "" : ", \\\n  ") + what; }
  // `what` with its name in the legend.
  void named(const std::string& name, const std::string& what) {
    const std::string label = shortened(one_line(name), kNameCharacters);
    legend_.push_back(label);
    plot(fmt::format("{} title {}", what, quoted(label)));
  }
  void unnamed(const std::string& what) { plot(what + " notitle"); }

  // From column `low` to `high`, across the axis of values, at `place` on the other one.
  void whiskers(bool lying, const std::string& place, std::size_t low, std::size_t high,
                std::string_view colour) {
    const std::string length = fmt::format("(${}-${})", high + 1, low + 1);
    const std::string ends = lying ? fmt::format("{}:{}:{}:(0)", low + 1, place, length)
                                   : fmt::format("{}:{}:(0):{}", place, low + 1, length);
    unnamed(fmt::format("$data using {} with vectors heads size screen 0.008,90 lc rgb '{}' lw 0.7", ends,
                        colour));
  }

  void take_extent(double value) {
    if (!std::isfinite(value)) return;
    largest_ = std::max(largest_, value);
    if (value > 0) least_positive_ = std::min(least_positive_, value);
  }

  void data(const std::string& name, const std::vector<std::vector<double>>& rows) {
    script_.commands += "$" + name + " << EOD\n";
    for (const std::vector<double>& row : rows) {
      for (std::size_t c = 0; c < row.size(); ++c) script_.commands += (c == 0 ? "" : " ") + text_of(row[c]);
      script_.commands += "\n";
    }
    line("EOD");
  }
  // All columns as numbers; the first, if it is none, as the number of its row.
  void data() {
    std::vector<std::vector<double>> rows;
    for (const std::vector<Cell>& row : table_.rows) {
      std::vector<double>& values = rows.emplace_back();
      for (const Cell& cell : row) values.push_back(number_of(cell));
      if (named_rows()) values.front() = static_cast<double>(rows.size() - 1);
    }
    data("data", rows);
  }
  bool named_rows() const { return chart_.kind == Chart::Kind::kBar || chart_.kind == Chart::Kind::kBox; }

  void value_axis(char axis, bool from_zero) {
    line(fmt::format("set {}label {}", axis, title(chart_.y_title, axis == 'x')));
    line(fmt::format("set grid {}tics lt 1 lc rgb '#dddddd' lw 0.5", axis));
    if (chart_.logarithmic) {
      line(fmt::format("set logscale {}", axis));
      if (axis == 'x' && largest_ / least_positive_ > 1e4) line("set xtics 100");
      line(fmt::format("set format {} '{}'", axis,
                       least_positive_ >= 1 && largest_ >= 1000 ? "%.0s%c" : "%g"));
      return;
    }
    if (from_zero) line(fmt::format("set {}range [*<0:0<*]", axis));
    line(fmt::format("set format {} '{}'", axis, largest_ >= 1e5 && largest_ < 1e7 ? "%.0f" : "%g"));
  }

  // Names along an axis. A label is a format for its number, in which % has a meaning.
  void names(char axis) {
    std::string tics;
    std::size_t longest = 0;
    for (std::size_t r = 0; r < table_.rows.size(); ++r) {
      std::string label = shortened(one_line(table_.rows[r].front().text), kNameCharacters);
      longest = std::max(longest, character_count(label));
      for (std::size_t at = 0; (at = label.find('%', at)) != std::string::npos; at += 2)
        label.insert(at, "%");
      tics += fmt::format("{}{} {}", r == 0 ? "" : ", ", quoted(label), r);
    }
    line(fmt::format("set {}label {}", axis, title(chart_.x_title)));
    line(fmt::format("set {}tics ({})", axis, tics));
    const double count = static_cast<double>(table_.rows.size());
    const bool crowded = static_cast<double>(longest) * kCharacterMm > kPlotMm / count;
    if (axis == 'y') {  // from top to bottom
      line(fmt::format("set yrange [{}:-0.6]", count - 0.4));
      const double mm = kCharacterMm * static_cast<double>(longest) + (chart_.x_title.empty() ? 4 : 9);
      line(fmt::format("set lmargin at screen {:.4f}", mm / script_.width_mm));
      return;
    }
    line(fmt::format("set xrange [-0.6:{}]", count - 0.4));
    if (!crowded) return;
    line("set xtics rotate by 40 right");
    script_.height_mm += 0.64 * kCharacterMm * static_cast<double>(longest);
  }

  void number_axis() {
    line(fmt::format("set xlabel {}", title(chart_.x_title)));
    double least = std::numeric_limits<double>::infinity(), largest = -least;
    bool whole = true;
    for (const std::vector<Cell>& row : table_.rows) {
      const double x = number_of(row.front());
      if (!std::isfinite(x)) continue;
      whole = whole && x == std::floor(x);
      least = std::min(least, x);
      largest = std::max(largest, x);
    }
    if (least < largest) line(fmt::format("set xrange [{}:{}]", least, largest));
    if (whole && largest - least <= 10) line("set xtics 1");  // there are no halves of epochs
  }

  // Above the plot, from the left edge of the figure on, as many names in a row as there is room for.
  void legend() {
    if (legend_.size() < 2 || legend_.size() > kManyGroups) return line("set key off");
    std::size_t longest = 0;
    for (const std::string& label : legend_) longest = std::max(longest, character_count(label));
    const double entry_mm = 1.2 * kCharacterMm * static_cast<double>(longest) + 12;  // as gnuplot has it
    const double in_a_row = std::max(1.0, std::floor(script_.width_mm / entry_mm));
    const double mm = kLineMm * std::ceil(static_cast<double>(legend_.size()) / in_a_row) + 1.5;
    script_.height_mm += mm;
    line(fmt::format("set tmargin at screen {:.4f}", 1 - (mm + 1) / script_.height_mm));
    line(fmt::format("set key at screen 0.01, screen 1 left top Left reverse horizontal maxcols {} samplen 2",
                     in_a_row));
  }

  const Chart& chart_;
  const Table& table_;
  GnuplotScript script_;
  std::string plots_;
  std::vector<std::string> legend_;
  double largest_ = 0, least_positive_ = std::numeric_limits<double>::infinity();
};

// Columns of a datablock are counted from 1.
void Script::bars() {
  const std::vector<std::size_t> series = chart_.series();
  const bool lying = table_.rows.size() > kManyRows;
  const double width = 0.8 / static_cast<double>(series.size());
  // Lying bars begin at a number, which on a logarithmic axis is not zero.
  const double origin = chart_.logarithmic && std::isfinite(least_positive_) ? least_positive_ / 2 : 0;
  data();
  value_axis(lying ? 'x' : 'y', true);
  if (lying && chart_.logarithmic) line(fmt::format("set xrange [{:g}:*]", origin));
  names(lying ? 'y' : 'x');
  if (lying) {
    const double row_mm = kLineMm * std::max(1.0, 0.6 * static_cast<double>(series.size()));
    script_.height_mm = 14 + row_mm * static_cast<double>(table_.rows.size());
  }
  for (std::size_t s = 0; s < series.size(); ++s) {
    const double offset = (static_cast<double>(s) - (static_cast<double>(series.size()) - 1) / 2) * width;
    const std::string place = fmt::format("($1{:+.4f})", offset);
    const std::string style =
        fmt::format("fs {} border lc rgb 'black' lc rgb '{}' lw 0.4", filling(s), colour(s));
    const std::size_t value = series[s] + 1;
    if (lying) {
      named(table_.columns[series[s]],
            fmt::format("$data using {2}:{0}:({1:g}):{2}:($1{3:+.4f}):($1{4:+.4f}) with boxxyerror {5}",
                        place, origin, value, offset - width / 2, offset + width / 2, style));
    } else {
      named(table_.columns[series[s]],
            fmt::format("$data using {}:{}:({:.4f}) with boxes {}", place, value, width, style));
    }
    if (const Chart::Interval* const interval = chart_.interval_of(series[s])) {
      whiskers(lying, place, interval->low, interval->high, "black");
    }
  }
}

// Bins end where the next begins, the last one is as wide as that before.
void Script::histogram() {
  const std::size_t count = table_.rows.size();
  std::vector<std::vector<double>> rows;
  for (std::size_t r = 0; r < count; ++r) {
    std::vector<double>& row = rows.emplace_back();
    const double begin = number_of(table_.rows[r].front());
    row.push_back(begin);
    for (std::size_t c = 1; c < table_.columns.size(); ++c) row.push_back(number_of(table_.rows[r][c]));
    const std::size_t next = r + 1 < count ? r + 1 : r;
    const double width =
        count < 2 ? 1 : number_of(table_.rows[next].front()) - number_of(table_.rows[next - 1].front());
    row.push_back(begin + width);
  }
  const std::size_t end = table_.columns.size() + 1;
  if (!rows.empty()) {  // steps are drawn to where the last bin ends
    std::vector<double> last = rows.back();
    last.front() = last.back();
    rows.push_back(std::move(last));
  }
  data("data", rows);
  line(fmt::format("set xlabel {}", title(chart_.x_title)));
  value_axis('y', true);
  const std::vector<std::size_t> series = chart_.series();
  for (std::size_t s = 0; s < series.size(); ++s) {
    const std::string& name = table_.columns[series[s]];
    if (series.size() == 1) {
      named(name, fmt::format("$data using (($1+${0})/2):{1}:(${0}-$1) with boxes fs solid 1.0 border lc rgb "
                              "'{2}' lc rgb '{2}' lw 0.3",
                              end, series[s] + 1, colour(s, name)));
    } else {
      named(name, fmt::format("$data using 1:{} with steps lc rgb '{}' dt {} lw 1.2", series[s] + 1,
                              colour(s, name), dash(s)));
    }
  }
}

void Script::lines() {
  const std::vector<std::size_t> series = chart_.series();
  const bool marked = table_.rows.size() <= kManyPoints;
  data();
  number_axis();
  value_axis('y', false);
  for (std::size_t s = 0; s < series.size() && !marked; ++s) {  // bands lie below lines
    const Chart::Interval* const interval = chart_.interval_of(series[s]);
    if (interval == nullptr) continue;
    unnamed(fmt::format("$data using 1:{}:{} with filledcurves fs transparent solid 0.2 noborder lc rgb '{}'",
                        interval->low + 1, interval->high + 1, colour(s)));
  }
  for (std::size_t s = 0; s < series.size(); ++s) {
    const std::size_t value = series[s] + 1;
    const std::string style = fmt::format("lc rgb '{}' lw 1.2", colour(s));
    const Chart::Interval* const interval = chart_.interval_of(series[s]);
    if (interval != nullptr && marked) {
      whiskers(false, "1", interval->low, interval->high, colour(s));
    }
    named(table_.columns[series[s]],
          marked ? fmt::format("$data using 1:{} with linespoints {} dt {} pt {} ps 0.45", value, style,
                               dash(s), mark(s))
                 : fmt::format("$data using 1:{} with lines {} dt {}", value, style, dash(s)));
  }
}

// Groups in the order of their numbers, or of their names where these are none.
void Script::scatter() {
  std::vector<std::pair<const Cell*, std::vector<std::vector<double>>>> groups;
  for (const std::vector<Cell>& row : table_.rows) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& known) { return known.first->text == row[2].text; });
    if (group == groups.end()) group = groups.insert(groups.end(), {&row[2], {}});
    group->second.push_back({number_of(row[0]), number_of(row[1])});
  }
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    const double x = number_of(*a.first), y = number_of(*b.first);
    return std::isfinite(x) && std::isfinite(y) ? x < y : a.first->text < b.first->text;
  });
  script_.height_mm = 76;
  line(fmt::format("set xlabel {}", title(chart_.x_title)));
  line(fmt::format("set ylabel {}", title(chart_.y_title)));
  line("set offsets graph 0.04, graph 0.04, graph 0.04, graph 0.04");
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::string name = fmt::format("group{}", g);
    data(name, groups[g].second);
    named(groups[g].first->text, fmt::format("${} using 1:2 with points pt {} ps {} lw 0.5 lc rgb '{}'", name,
                                             mark(g), table_.rows.size() > 1000 ? 0.25 : 0.4, colour(g)));
  }
}

// Columns: name, least, low, quartile, median, quartile, high, largest.
void Script::boxes() {
  data();
  value_axis('x', false);
  names('y');
  script_.height_mm = 14 + (kLineMm + 1) * static_cast<double>(std::max<std::size_t>(table_.rows.size(), 3));
  whiskers(true, "1", 2, 6, "black");
  unnamed(
      fmt::format("$data using 5:1:4:6:($1-0.3):($1+0.3) with boxxyerror fs solid 1.0 border lc rgb 'black' "
                  "lc rgb '{}' lw 0.5",
                  kPale));
  unnamed("$data using 5:($1-0.3):(0):(0.6) with vectors nohead lc rgb 'black' lw 1.5");
  for (const int end : {2, 8})
    unnamed(fmt::format("$data using {}:1 with points pt 6 ps 0.3 lc rgb 'black' lw 0.5", end));
}

}  // namespace

std::string gnuplot_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

GnuplotScript gnuplot_script(const Chart& chart) {
  Script script(chart);
  switch (chart.kind) {
    case Chart::Kind::kBar:
      script.bars();
      break;
    case Chart::Kind::kHistogram:
      script.histogram();
      break;
    case Chart::Kind::kLine:
      script.lines();
      break;
    case Chart::Kind::kScatter:
      script.scatter();
      break;
    case Chart::Kind::kBox:
      script.boxes();
      break;
  }
  return script.drawing();
}

}  // namespace convoke::report
