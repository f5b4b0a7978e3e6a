#include "convoke/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "convoke/core/text.hpp"
#include "convoke/report/html.hpp"

namespace convoke::report {
namespace {

std::string html_of(const Cell& cell, bool header) {
  std::string attributes;
  if (!cell.value.empty()) {
    attributes += cell.value == cell.text ? " class=n" : fmt::format(" class=n data-v=\"{}\"", cell.value);
  }
  if (cell.shade != 0) {
    attributes += fmt::format(" data-s={} style=\"--s:{:.2f}\"", cell.shade > 0 ? "p" : "m",
                              std::min(1.0, std::abs(cell.shade)));
  }
  return header ? fmt::format("<th scope=row{}>{}</th>", attributes, escape(cell.text))
                : fmt::format("<td{}>{}</td>", attributes, escape(cell.text));
}

}  // namespace

Cell Cell::count(std::int64_t number) {
  Cell cell(format_count(number));
  cell.value = std::to_string(number);
  return cell;
}

Cell Cell::number(double number, int digits) {
  if (!std::isfinite(number)) return {"–"};
  Cell cell(fmt::format("{:.{}g}", number, digits));
  cell.value = cell.text;
  return cell;
}

Cell Cell::percent(double share) {
  if (!std::isfinite(share)) return {"–"};
  Cell cell(fmt::format("{:.1f} %", 100 * share));
  cell.value = fmt::format("{:.6g}", 100 * share);
  return cell;
}

Cell Cell::shaded(double by) const {
  Cell cell = *this;
  cell.shade = std::isfinite(by) ? by : 0;
  return cell;
}

std::string Table::html() const {
  std::string html = "<div class=scroll tabindex=0><table><thead><tr>";
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const bool number = !rows.empty() && std::any_of(rows.begin(), rows.end(),
                                                     [&](const auto& row) { return !row[c].value.empty(); });
    html += fmt::format("<th scope=col{}>{}</th>", number ? " class=n" : "", escape(columns[c]));
  }
  html += "</tr></thead><tbody>\n";
  for (const std::vector<Cell>& row : rows) {
    assert(row.size() == columns.size());
    html += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) html += html_of(row[c], c == 0 && row[c].value.empty());
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace convoke::report
