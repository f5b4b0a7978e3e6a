#include "convoke/report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <tuple>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "report/chart/drawing.hpp"
#include "report/page/html.hpp"

namespace convoke::report {
namespace {

constexpr std::string_view kNone = "–", kZero = "·";

// `numbers`: the cell is in a column of numbers, where a missing one is aligned like the others.
std::string html_of(const Cell& cell, bool header, bool numbers) {
  std::string attributes;
  const bool dotted = cell.text == kZero && !cell.value.empty();  // false for a class named "·"
  if (dotted) {
    attributes += " class=\"n z\"";  // the style sheet draws the dot
  } else if (!cell.value.empty()) {
    attributes += cell.value == cell.text ? " class=n" : fmt::format(" class=n data-v=\"{}\"", cell.value);
  } else if (numbers && cell.text == kNone) {
    attributes += " class=n";
  }
  if (cell.shade != 0) {
    attributes += fmt::format(" data-s={} style=\"--s:{:.2f}\"", cell.shade > 0 ? "p" : "m",
                              std::min(1.0, std::abs(cell.shade)));
  }
  constexpr std::size_t kWide = 30;  // letters; longer names get a wider column
  if (header && cell.value.empty() && cell.text.size() > kWide) attributes += " class=w";
  const std::string text = escape(dotted ? cell.value : cell.text);
  return header ? fmt::format("<th scope=row{}>{}</th>", attributes, text)
                : fmt::format("<td{}>{}</td>", attributes, text);
}

// True if the text has an interval or a mark in addition to the number.
bool has_more_than_number(const Cell& cell) {
  constexpr std::array kMore{"(", "[", "±", " to ", "< "};
  return std::ranges::any_of(kMore,
                             [&](const char* more) { return cell.text.find(more) != std::string::npos; });
}

std::string csv_field(const Cell& cell) {
  if (!cell.value.empty() && !has_more_than_number(cell)) return cell.value;
  return cell.text == kNone ? std::string() : one_line(cell.text);
}

bool holds_percentages(const Table& table, std::size_t column) {
  return std::ranges::any_of(table.rows, [&](const std::vector<Cell>& row) {
    return !row[column].value.empty() && row[column].text.ends_with(" %");
  });
}

}  // namespace

Cell Cell::exact(std::string_view words, std::string number) {
  Cell cell(words);
  cell.value = std::move(number);
  return cell;
}

Cell Cell::count(std::int64_t number) { return exact(format_count(number), std::to_string(number)); }

Cell Cell::number(double number, int digits) {
  if (!std::isfinite(number)) return {kNone};
  const std::string text = fmt::format("{:.{}g}", number, digits);
  return exact(text, text);
}

Cell Cell::seconds(double seconds) {
  if (!std::isfinite(seconds)) return {kNone};
  return exact(fmt::format("{:.2f} s", seconds), fmt::format("{:.6g}", seconds));
}

Cell Cell::percent(double share, int digits) {
  if (!std::isfinite(share)) return {kNone};
  return exact(fmt::format("{:.{}f} %", 100 * share, digits), fmt::format("{:.6g}", 100 * share));
}

Cell Cell::zero() { return exact(kZero, "0"); }

Cell Cell::shaded(double by) const {
  Cell cell = *this;
  cell.shade = std::isfinite(by) ? by : 0;
  return cell;
}

double Cell::as_double() const { return value.empty() ? NAN : std::strtod(value.c_str(), nullptr); }

int digits_for(double largest, double step) {
  constexpr double kFewest = 4, kMost = 12;
  if (!(largest > 0 && step > 0)) return static_cast<int>(kFewest);
  return static_cast<int>(std::clamp(std::ceil(std::log10(largest / step)) + 2, kFewest, kMost));
}

int digits_for(std::span<const double> numbers) {
  Bounds shown;
  for (const double number : numbers) shown.add(number);
  return digits_for(std::max(std::abs(shown.low), std::abs(shown.high)), (shown.high - shown.low) / 100);
}

std::string Table::html(std::string_view name) const {
  for (const std::vector<Cell>& row : rows)
    ensure(row.size() == columns.size(), "a row must have as many cells as the table has columns");
  std::string html = fmt::format(
      "<div class=scroll tabindex=0 role=region aria-label=\"{}\"><table><thead><tr>", escape(name));
  std::vector<bool> numbers;  // true for a column that has any
  for (std::size_t c = 0; c < columns.size(); ++c) {
    numbers.push_back(std::ranges::any_of(rows, [&](const auto& row) { return !row[c].value.empty(); }));
    html += fmt::format("<th scope=col{}>{}</th>", numbers[c] ? " class=n" : "", escape(columns[c]));
  }
  html += "</tr></thead><tbody>\n";
  for (const std::vector<Cell>& row : rows) {
    html += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) html += html_of(row[c], c == 0, numbers[c]);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string Table::csv() const {
  std::vector<std::string> fields;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    fields.push_back(one_line(columns[c]) + (holds_percentages(*this, c) ? " (%)" : ""));
  }
  std::string csv = csv_line(fields) + "\n";
  for (const std::vector<Cell>& row : rows) {
    std::transform(row.begin(), row.end(), fields.begin(), csv_field);
    csv += csv_line(fields) + "\n";
  }
  return csv;
}

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
