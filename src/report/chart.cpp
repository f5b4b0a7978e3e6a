#include "convoke/report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <span>
#include <tuple>

#include "convoke/core/settings.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/report/distinct_names.hpp"
#include "convoke/report/html.hpp"

namespace convoke::report {
namespace {

constexpr std::array kKinds{"bar", "histogram", "line", "scatter", "box"};

// An attribute: what names are called that are too long, as JSON; nothing if there are none.
std::string called(const char* attribute, std::span<const std::string> names, std::size_t characters) {
  Settings changed;
  for (const auto& [name, called] : distinct_names(names, characters)) {
    if (called != name) changed.set(name, called);
  }
  if (changed.entries().empty()) return {};
  return fmt::format(" {}=\"{}\"", attribute, escape(metrics::to_json(changed)));
}

}  // namespace

std::vector<std::size_t> Chart::series() const {
  std::vector<std::size_t> columns;
  for (std::size_t c = 1; c < table.columns.size(); ++c) {
    const bool end = std::any_of(intervals.begin(), intervals.end(),
                                 [&](const Interval& i) { return i.low == c || i.high == c; });
    if (!end) columns.push_back(c);
  }
  return columns;
}

std::vector<double> Chart::doublings() const {
  constexpr double kSeveral = 16;
  double least = HUGE_VAL, largest = 0;
  for (const std::vector<Cell>& row : table.rows) {
    const double x = std::strtod(row.front().value.c_str(), nullptr);
    least = std::min(least, x);
    largest = std::max(largest, x);
  }
  std::vector<double> numbers;
  if (!of_workers || least <= 0 || largest < kSeveral * least) return numbers;
  for (double x = least; x <= largest; x *= 2) numbers.push_back(x);
  return numbers;
}

std::vector<std::string> Chart::row_names() const {
  std::vector<std::string> names;
  for (const std::vector<Cell>& row : table.rows) names.push_back(row.front().text);
  return names;
}

std::vector<std::string> Chart::names() const {
  std::vector<std::string> names;
  if (kind == Kind::kBox) return names;
  if (kind != Kind::kScatter) {
    for (const std::size_t column : series()) names.push_back(table.columns[column]);
    return names;
  }
  using Rank = std::tuple<bool, double, std::string>;
  std::set<Rank> groups;
  for (const std::vector<Cell>& row : table.rows) {
    const Cell& group = row[2];
    const double number = group.value.empty() ? 0 : std::strtod(group.value.c_str(), nullptr);
    groups.emplace(group.value.empty(), number, group.text);
  }
  for (const Rank& group : groups) names.push_back(std::get<2>(group));
  return names;
}

const Chart::Interval* Chart::interval_of(std::size_t column) const {
  const auto found = std::find_if(intervals.begin(), intervals.end(),
                                  [&](const Interval& interval) { return interval.of == column; });
  return found == intervals.end() ? nullptr : &*found;
}

std::string Chart::html() const {
  std::string ends;
  for (const Interval& i : intervals) {
    ends += fmt::format("{}{}:{}:{}", ends.empty() ? " data-intervals=\"" : " ", i.of, i.low, i.high);
  }
  if (!ends.empty()) ends += '"';
  std::string doubled;
  for (const double x : doublings())
    doubled += fmt::format("{}{:g}", doubled.empty() ? " data-doublings=\"" : " ", x);
  if (!doubled.empty()) doubled += '"';
  constexpr std::size_t kInLegend = 36, kAlongAxis = 20;
  const std::string called_series = called("data-series", names(), kInLegend);
  const std::string called_rows =
      kind == Kind::kBar || kind == Kind::kBox ? called("data-rows", row_names(), kAlongAxis) : "";
  const std::string name = escape(title);
  std::string html = fmt::format(
      "<figure class=chart data-kind={} data-x=\"{}\" "
      "data-y=\"{}\"{}{}{}{}{}{}{}>\n<figcaption>{}</figcaption>\n",
      kKinds[static_cast<std::size_t>(kind)], escape(x_title), escape(y_title),
      logarithmic ? " data-logarithmic" : "", from_zero && !logarithmic ? " data-from-zero" : "",
      most ? fmt::format(" data-most={:g}", *most) : "", ends, doubled, called_series, called_rows, name);
  html += fmt::format(
      "<div class=plot><canvas role=img aria-label=\"{}: a chart of the numbers that "
      "follow\"></canvas></div>\n",
      name);
  if (!note.empty()) html += fmt::format("<p class=note>{}</p>\n", escape(note));
  html +=
      fmt::format("<details><summary aria-label=\"The numbers: {}\">The numbers</summary>\n{}</details>\n",
                  name, table.html(title));
  html += "</figure>\n";
  return html;
}

}  // namespace convoke::report
