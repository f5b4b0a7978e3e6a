#include "study/analysis/table_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace convoke::study {

std::string label(const MeasuredConfiguration& configuration) {
  return marked(to_string(configuration.at), configuration.marks);
}

std::string label(const Coordinates& at, const Analysis& analysis) {
  const MeasuredConfiguration* configuration = configuration_at(analysis.configurations, at);
  return configuration == nullptr ? to_string(at) : label(*configuration);
}

std::string mean_of(const MeasuredConfiguration& configuration, std::string_view quantity, double factor) {
  const Statistics* s = configuration.find(quantity);
  return s == nullptr ? "" : with_error(s->mean, s->interval, factor);
}

std::string ranks_text(const Coordinates& at) {
  if (at.ranks == 0) return at.mode;
  return at.threads == 1 ? fmt::format("{}", at.ranks) : fmt::format("{} x {}", at.ranks, at.threads);
}

TextTable without_empty_columns(TextTable table) {
  for (std::size_t c = table.columns.size(); c-- > 0;) {
    if (std::ranges::any_of(table.rows, [&](const Row& row) { return !row[c].empty(); })) continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(c));
    for (Row& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
  }
  return table;
}

void add(std::vector<TextTable>& all, TextTable table) {
  if (!table.rows.empty()) all.push_back(without_empty_columns(std::move(table)));
}

}  // namespace convoke::study
