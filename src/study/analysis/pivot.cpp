#include "convoke/study/analysis/pivot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/core/pattern.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "study/analysis/table_parts.hpp"

namespace convoke::study {
namespace {

// Returns what the tables print for a quantity of a configuration; "" if they have no value.
std::string printed_text(std::span<const PublishedTable> tables, const Coordinates& at,
                         const std::string& name) {
  const std::vector<Printed> printed = printed_numbers(tables, at, name);
  return printed.empty() ? "" : format_fixed(printed.front().value, digits_of(printed.front().half_unit));
}

// The number that a coordinate is: "4", "1/8".
std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return std::nullopt;
  const double divisor = *end == '/' ? std::strtod(end + 1, &end) : 1;
  return *end == '\0' ? std::optional(value / divisor) : std::nullopt;
}

// The values of a coordinate: numbers ascending, otherwise as they come.
std::vector<std::string> values_in_order(std::span<const Coordinates> configurations, const Coordinate& of) {
  std::vector<std::string> values;
  for (const Coordinates& at : configurations) {
    const std::string value = of.value(at);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  if (std::ranges::all_of(values, [](const std::string& value) { return number_of(value).has_value(); })) {
    std::ranges::sort(
        values, [](const std::string& a, const std::string& b) { return *number_of(a) < *number_of(b); });
  }
  return values;
}

/// The configurations by the values of two coordinates.
using Places = std::map<std::pair<std::string, std::string>, Coordinates>;

Places places_of(std::span<const Coordinates> configurations, const Coordinate& by_row,
                 const Coordinate& by_column) {
  Places places;
  for (const Coordinates& at : configurations) {
    const auto [place, added] = places.emplace(std::pair(by_row.value(at), by_column.value(at)), at);
    if (added) continue;
    throw Error(fmt::format("two configurations have the same place in the table: {} and {}",
                            to_string(place->second), to_string(at)),
                "choose one by --only, or add --columns");
  }
  return places;
}

// The heading of a column: its group, its quantity, or both where there are several.
std::string heading_in(const std::string& group, const std::string& name, bool only_one) {
  if (group.empty()) return heading_of(name);
  return only_one ? group : group + ": " + heading_of(name);
}

}  // namespace

TextTable pivot(const Analysis& analysis, std::span<const PublishedTable> tables,
                const PivotOptions& options) {
  const Coordinate& by_row = coordinate(options.rows);
  const Coordinate none{"", [](const Coordinates&) { return std::string(); }};
  const Coordinate& by_column = options.columns.empty() ? none : coordinate(options.columns);
  const std::vector<Coordinates> configurations = wanted_configurations(analysis, options.only);
  const auto cell_text = [&](const Coordinates& at, const std::string& name) {
    const std::optional<Figure> figure = figure_of(analysis, at, name);
    if (figure) return marked(figure->text, figure->marks);
    // A measured quantity without a figure has values of runs that do not count.
    return find_named(kQuantities, name) != nullptr ? "" : printed_text(tables, at, name);
  };
  for (const std::string& name : options.show) {
    const auto has_value = [&](const Coordinates& at) { return !cell_text(at, name).empty(); };
    if (std::ranges::any_of(configurations, has_value)) continue;
    throw Error(fmt::format("no configuration of the tables has a value of \"{}\"", name),
                "use one of " + join(known_quantities(analysis)));
  }
  const Places places = places_of(configurations, by_row, by_column);
  const std::vector<std::string> groups = values_in_order(configurations, by_column);

  TextTable table{"", "", {std::string(by_row.name)}};
  for (const std::string& group : groups) {
    for (const std::string& name : options.show) {
      table.columns.push_back(heading_in(group, name, options.show.size() == 1));
    }
  }
  for (const std::string& value : values_in_order(configurations, by_row)) {
    Row& row = table.rows.emplace_back(Row{value});
    for (const std::string& group : groups) {
      const auto place = places.find({value, group});
      for (const std::string& name : options.show) {
        row.push_back(place == places.end() ? "" : cell_text(place->second, name));
      }
    }
  }
  return without_empty_columns(std::move(table));
}

std::string to_markdown(const TextTable& table) {
  static const Pattern kBar(R"(\|)");
  const auto line = [](const Row& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) text += " " + substituted(one_line(cell), kBar, R"(\|)") + " |";
    return text + "\n";
  };
  std::string text = line(table.columns) + "|";
  for (std::size_t c = 0; c < table.columns.size(); ++c) text += "---|";
  text += "\n";
  for (const Row& row : table.rows) text += line(row);
  return text;
}

}  // namespace convoke::study
