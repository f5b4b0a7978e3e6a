#include "plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "convoke/core/text.hpp"
#include "convoke/core/utf8.hpp"
#include "convoke/report/distinct_names.hpp"
#include "style.hpp"

namespace convoke::report {
namespace {

constexpr std::size_t kManyGroups = 24;  // beyond which there is no legend
constexpr double kPlotMm = 68;           // of the width, about, what axes leave
constexpr double kMostHeightMm = 220;    // of a page

std::string text_of(double number) {
  return std::isfinite(number) ? fmt::format("{:.9g}", number) : std::string("NaN");
}

}  // namespace

double number_of(const Cell& cell) {
  if (cell.value.empty()) return std::numeric_limits<double>::quiet_NaN();
  return std::strtod(cell.value.c_str(), nullptr);
}

Plot::Plot(const Chart& chart)
    : chart_(chart),
      table_(chart.table),
      series_names_(distinct_names(chart.names(), kNameCharacters)),
      row_names_(distinct_names(chart.row_names(), kNameCharacters)) {
  for (const std::vector<Cell>& row : table_.rows) {
    for (std::size_t c = 1; c < row.size(); ++c) {
      const double value = number_of(row[c]);
      if (!std::isfinite(value)) continue;
      largest_ = std::max(largest_, value);
      if (value > 0) least_positive_ = std::min(least_positive_, value);
    }
  }
  line("set encoding utf8");
  line("set border 3 lw 0.5");
  line("set tics nomirror out scale 0.5");
  line("set boxwidth 1 absolute");
}

void Plot::line(const std::string& command) { script_.commands += command + "\n"; }

void Plot::unnamed(const std::string& what) {
  plots_ += fmt::format("{}{} notitle", plots_.empty() ? "" : ", \\\n  ", what);
}

void Plot::named(const std::string& name, const std::string& what) {
  legend_.push_back(series_names_.at(name));
  plots_ +=
      fmt::format("{}{} title {}", plots_.empty() ? "" : ", \\\n  ", what, gnuplot_quoted(legend_.back()));
}

void Plot::whiskers(bool lying, const std::string& place, std::size_t low, std::size_t high,
                    std::string_view colour, const std::string& data) {
  const std::string length = fmt::format("(${}-${})", high + 1, low + 1);
  const std::string ends = lying ? fmt::format("{}:{}:{}:(0)", low + 1, place, length)
                                 : fmt::format("{}:{}:(0):{}", place, low + 1, length);
  unnamed(fmt::format("${} using {} with vectors heads size screen 0.008,90 lc rgb '{}' lw 0.7", data, ends,
                      colour));
}

void Plot::data(const std::string& name, const std::vector<std::vector<double>>& rows) {
  script_.commands += "$" + name + " << EOD\n";
  for (const std::vector<double>& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) script_.commands += (c == 0 ? "" : " ") + text_of(row[c]);
    script_.commands += "\n";
  }
  line("EOD");
}

void Plot::data(bool names) {
  std::vector<std::vector<double>> rows;
  for (const std::vector<Cell>& row : table_.rows) {
    std::vector<double>& values = rows.emplace_back();
    for (const Cell& cell : row) values.push_back(number_of(cell));
    for (const Chart::Interval& interval :
         chart_.logarithmic ? chart_.intervals : std::vector<Chart::Interval>()) {
      for (const std::size_t end : {interval.low, interval.high}) {
        if (values[end] < decade()) values[end] = decade();
      }
    }
    if (names) values.front() = static_cast<double>(rows.size() - 1);
  }
  data("data", rows);
}

// Half a value is room for it to be seen, as a bar or above the axis.
double Plot::decade() const {
  return std::isfinite(least_positive_) ? std::pow(10, std::floor(std::log10(least_positive_ / 2))) : 1;
}

void Plot::value_axis(char axis, bool from_zero) {
  line(fmt::format("set {}label {}", axis, axis_title(chart_.y_title, axis == 'x')));
  line(fmt::format("set grid {}tics lt 1 lc rgb '#dddddd' lw 0.5", axis));
  if (chart_.logarithmic) {
    line(fmt::format("set logscale {}", axis));
    line(fmt::format("set {}range [{:g}:*]", axis, decade()));
    if (axis == 'x' && largest_ / least_positive_ > 1e4) line("set xtics 100");
    line(fmt::format("set format {} '{}'", axis, least_positive_ >= 1 && largest_ >= 1000 ? "%.0s%c" : "%g"));
    return;
  }
  const std::string most = chart_.most ? fmt::format("*<{:g}", *chart_.most) : from_zero ? "0<*" : "*";
  line(fmt::format("set {}range [{}:{}]", axis, from_zero ? "*<0" : "*", most));
  line(fmt::format("set format {} '{}'", axis, largest_ >= 1e5 && largest_ < 1e7 ? "%.0f" : "%g"));
}

bool Plot::names_fit() const {
  std::size_t longest = 0;
  for (const auto& [name, called] : row_names_) longest = std::max(longest, character_count(called));
  return kCharacterMm * static_cast<double>(longest * table_.rows.size()) <= kPlotMm;
}

// Names along an axis. A label is a format for its number, in which % has a meaning.
void Plot::name_axis(char axis) {
  std::string tics;
  std::size_t longest = 0;
  const double count = static_cast<double>(table_.rows.size());
  const auto every = static_cast<std::size_t>(std::ceil(kLineMm * count / (kMostHeightMm - 20)));
  for (std::size_t r = 0; r < table_.rows.size(); r += every) {  // of hundreds, those there is room for
    std::string label = row_names_.at(table_.rows[r].front().text);
    longest = std::max(longest, character_count(label));
    for (std::size_t at = 0; (at = label.find('%', at)) != std::string::npos; at += 2) label.insert(at, "%");
    tics += fmt::format("{}{} {}", r == 0 ? "" : ", ", gnuplot_quoted(label), r);
  }
  line(fmt::format("set {}label {}", axis, axis_title(chart_.x_title)));
  line(fmt::format("set {}tics ({})", axis, tics));
  if (axis == 'y') {  // from top to bottom
    line(fmt::format("set yrange [{}:-0.6]", count - 0.4));
    const double mm = kCharacterMm * static_cast<double>(longest) + (chart_.x_title.empty() ? 4 : 9);
    line(fmt::format("set lmargin at screen {:.4f}", mm / script_.width_mm));
    return;
  }
  line(fmt::format("set xrange [-0.6:{}]", count - 0.4));
}

// Named are all doublings, or every second one and so on, as there is room.
void Plot::double_axis(const std::vector<double>& doublings, double largest) {
  const double label_mm = kCharacterMm * static_cast<double>(text_of(doublings.back()).size() + 1);
  const double step_mm = kPlotMm / std::log2(largest / doublings.front());
  const auto every = static_cast<std::size_t>(std::ceil(label_mm / step_mm));
  std::vector<std::string> tics;
  for (std::size_t d = 0; d < doublings.size(); d += every) tics.push_back(text_of(doublings[d]));
  line("set logscale x 2");
  // A little beyond the last, which gnuplot would leave out for what a logarithm is rounded by.
  line(fmt::format("set xrange [{}:{}*1.001]", text_of(doublings.front()), text_of(largest)));
  line(fmt::format("set xtics ({})", join(tics)));
}

// Where something stands is named, if there is room for that.
void Plot::number_axis() {
  constexpr double kRoom = 0.08;  // of the axis, between numbers
  line(fmt::format("set xlabel {}", axis_title(chart_.x_title)));
  std::set<double> places;
  for (const std::vector<Cell>& row : table_.rows) {
    if (const double x = number_of(row.front()); std::isfinite(x)) places.insert(x);
  }
  if (places.empty()) return;
  if (const std::vector<double> doublings = chart_.doublings(); !doublings.empty())
    return double_axis(doublings, *places.rbegin());
  const double least = *places.begin(), length = *places.rbegin() - least;
  if (length > 0) line(fmt::format("set xrange [{}:{}]", least, least + length));
  const auto close = [&](double a, double b) { return b - a < kRoom * length; };
  if (std::adjacent_find(places.begin(), places.end(), close) == places.end()) {
    line(fmt::format("set xtics ({})", fmt::join(places, ", ")));
  } else if (length <= 10 &&
             std::all_of(places.begin(), places.end(), [](double x) { return x == std::floor(x); })) {
    line("set xtics 1");  // there are no halves of epochs
  }
}

// Above the plot, from the left edge of the figure on, as many names in a row as there is room for.
void Plot::legend() {
  if (legend_.size() < 2 || legend_.size() > kManyGroups) {
    script_.height_mm = std::min(script_.height_mm, kMostHeightMm);
    return line("set key off");
  }
  std::size_t longest = 0;
  for (const std::string& label : legend_) longest = std::max(longest, character_count(label));
  const double entry_mm = 1.2 * kCharacterMm * static_cast<double>(longest) + 12;  // as gnuplot has it
  const double in_a_row = std::max(1.0, std::floor(script_.width_mm / entry_mm));
  constexpr double kSpacing = 1.25;  // of lines of the key; below it stands the topmost number of the axis
  const double mm = kSpacing * kLineMm * std::ceil(static_cast<double>(legend_.size()) / in_a_row) + 2.5;
  script_.height_mm = std::min(script_.height_mm + mm, kMostHeightMm);
  line(fmt::format("set tmargin at screen {:.4f}", 1 - (mm + 1) / script_.height_mm));
  line(fmt::format("set key at screen 0.01, screen 1 left top Left reverse horizontal maxcols {} samplen 2",
                   in_a_row));
}

GnuplotScript Plot::script() {
  legend();
  script_.commands += "plot " + plots_ + "\n";
  return std::move(script_);
}

}  // namespace convoke::report
