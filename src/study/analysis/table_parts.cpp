#include "study/analysis/table_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"

namespace convoke::study {
namespace {

constexpr std::array kCoordinates{
    Coordinate{"system", [](const Coordinates& at) { return at.system; }},
    Coordinate{"mode", [](const Coordinates& at) { return at.emulated ? "emulated " + at.mode : at.mode; }},
    Coordinate{"ranks", [](const Coordinates& at) { return fmt::format("{}", at.ranks); }},
    Coordinate{"threads", [](const Coordinates& at) { return fmt::format("{}", at.threads); }},
    Coordinate{"workers", [](const Coordinates& at) { return fmt::format("{}", at.workers()); }},
    Coordinate{"fraction", [](const Coordinates& at) { return fraction_text(at.fraction); }},
    Coordinate{"batch", [](const Coordinates& at) { return at.batch; }},
    Coordinate{"variant", [](const Coordinates& at) { return at.variant; }},
    Coordinate{"machine", [](const Coordinates& at) { return at.machine; }},
};

/// A ratio of a configuration to the base of its curve.
struct Derived {
  std::string_view name, title;
  int digits;
  std::optional<Ratio> (*ratio)(const ScalingPoint& point);
};

constexpr std::array kDerived{
    Derived{"speedup", "speed-up", 2, [](const ScalingPoint& p) { return std::optional(p.speedup); }},
    Derived{"efficiency", "efficiency", 2, [](const ScalingPoint& p) { return p.efficiency; }},
    Derived{"decrease_percent", "decrease (%)", 1,
            [](const ScalingPoint& p) { return std::optional(p.decrease_percent); }},
};

// True for a quantity of the model, and false for a time or what follows from times.
bool is_score(const std::string& quantity) {
  const Quantity* known = find_named(kQuantities, quantity);
  return known != nullptr && known->kind == Quantity::Kind::kScore;
}

std::optional<Figure> ratio_at(const Analysis& analysis, const Coordinates& at, const Derived& derived) {
  for (const Curve& curve : analysis.curves) {
    for (const ScalingPoint& point : curve.points) {
      const std::optional<Ratio> ratio = point.at == at ? derived.ratio(point) : std::nullopt;
      if (ratio)
        return Figure{ratio->value, ratio->interval, with_ends(ratio, derived.digits), point.marks_of_ratios,
                      curve.base};
    }
  }
  return {};
}

}  // namespace

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

const Coordinate& coordinate(const std::string& name) {
  if (const Coordinate* found = find_named(kCoordinates, name)) return *found;
  throw Error(fmt::format("\"{}\" is not a coordinate of a configuration", name),
              "use one of " + join(names_in(kCoordinates)));
}

Only only_from(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos) throw Error(fmt::format("\"{}\" has no =", text), "for example \"mode=sync\"");
  return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<Coordinates> wanted_configurations(const Analysis& analysis, std::span<const Only> only) {
  std::vector<Coordinates> configurations;
  const auto add_wanted = [&](const Coordinates& at) {
    const bool wanted = std::ranges::all_of(
        only, [&](const Only& value) { return coordinate(value.first).value(at) == value.second; });
    if (wanted && std::find(configurations.begin(), configurations.end(), at) == configurations.end())
      configurations.push_back(at);
  };
  for (const MeasuredConfiguration& configuration : analysis.configurations) add_wanted(configuration.at);
  for (const Curve& curve : analysis.curves) {
    for (const ScalingPoint& point : curve.points) add_wanted(point.at);
  }
  for (const Coordinates& at : analysis.printed) add_wanted(at);
  if (!configurations.empty()) return configurations;
  throw Error("the tables have no such configuration",
              "check the wanted values: convoke study analyze prints all configurations");
}

bool is_share(const std::string& quantity) {
  return find_named(kQuantities, quantity) != nullptr &&
         (quantity.find("accuracy") != std::string::npos || quantity == "f1");
}

std::optional<Figure> figure_of(const Analysis& analysis, const Coordinates& at,
                                const std::string& quantity) {
  if (const Derived* derived = find_named(kDerived, quantity)) return ratio_at(analysis, at, *derived);
  const MeasuredConfiguration* configuration = configuration_at(analysis.configurations, at);
  const Statistics* s = configuration == nullptr ? nullptr : configuration->find(quantity);
  if (s == nullptr) return {};
  const double factor = is_share(quantity) ? 100 : 1;
  Figure figure{
      .value = factor * s->mean, .interval = s->interval, .text = with_error(s->mean, s->interval, factor)};
  if (figure.interval) figure.interval = Interval{factor * s->interval->low, factor * s->interval->high};
  if (!is_score(quantity)) figure.marks = configuration->marks;
  return figure;
}

std::vector<Printed> printed_numbers(std::span<const PublishedTable> tables, const Coordinates& at,
                                     std::string_view column) {
  std::vector<Printed> numbers;
  for (const PublishedTable& table : tables) {
    for (const TableRow& row : table.rows) {
      Coordinates place = coordinates(row.measurement);
      if (at.machine.empty()) {
        place.machine.clear();  // all rows have the same one
      } else if (place.machine.empty()) {
        place.machine = kUnknownMachine;
      }
      const Printed* printed = row.measurement.has_mark("failed") ? nullptr : row.find(column);
      if (printed != nullptr && place == at) numbers.push_back(*printed);
    }
  }
  return numbers;
}

std::string heading_of(const std::string& name) {
  if (const Derived* derived = find_named(kDerived, name)) return std::string(derived->title);
  const Quantity* quantity = find_named(kQuantities, name);
  if (quantity == nullptr) {
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
  }
  if (is_share(name)) return fmt::format("{} (%)", quantity->title);
  if (quantity->unit.empty() || quantity->unit == "1/s") return std::string(quantity->title);
  return fmt::format("{} ({})", quantity->title, quantity->unit);
}

std::vector<std::string> known_quantities(const Analysis& analysis) {
  std::set<std::string> known;
  for (const Derived& derived : kDerived) known.emplace(derived.name);
  for (const MeasuredConfiguration& configuration : analysis.configurations) {
    for (const auto& [quantity, statistics] : configuration.statistics) known.insert(quantity);
  }
  return {known.begin(), known.end()};
}

}  // namespace convoke::study
