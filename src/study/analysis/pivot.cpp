#include "convoke/study/analysis/pivot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "study/analysis/table_parts.hpp"

namespace convoke::study {
namespace {

struct Coordinate {
  std::string_view name;
  std::string (*value)(const Coordinates& at);
};

constexpr std::array kCoordinates{
    Coordinate{"system", [](const Coordinates& at) { return at.system; }},
    Coordinate{"mode", [](const Coordinates& at) { return at.emulated ? "emulated " + at.mode : at.mode; }},
    Coordinate{"ranks", [](const Coordinates& at) { return fmt::format("{}", at.ranks); }},
    Coordinate{"threads", [](const Coordinates& at) { return fmt::format("{}", at.threads); }},
    Coordinate{"fraction", [](const Coordinates& at) { return fraction_text(at.fraction); }},
    Coordinate{"batch", [](const Coordinates& at) { return at.batch; }},
    Coordinate{"variant", [](const Coordinates& at) { return at.variant; }},
    Coordinate{"machine", [](const Coordinates& at) { return at.machine; }},
};

/// A ratio of a configuration to the base of its curve.
struct Derived {
  std::string_view name, title;
  std::string (*text)(const ScalingPoint& point);
};

constexpr std::array kDerived{
    Derived{"speedup", "speed-up", [](const ScalingPoint& p) { return with_ends(p.speedup, 2); }},
    Derived{"efficiency", "efficiency", [](const ScalingPoint& p) { return with_ends(p.efficiency, 2); }},
    Derived{"decrease_percent", "decrease (%)",
            [](const ScalingPoint& p) { return with_ends(p.decrease_percent, 1); }},
};

template <class Entries>
const auto* find_named(const Entries& entries, std::string_view name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

const Coordinate& coordinate(const std::string& name) {
  if (const Coordinate* found = find_named(kCoordinates, name)) return *found;
  std::vector<std::string> names;
  for (const Coordinate& known : kCoordinates) names.emplace_back(known.name);
  throw Error(fmt::format("\"{}\" is not a coordinate of a configuration", name),
              "use one of " + join(names));
}

bool is_share(const Quantity& quantity) {
  return quantity.name.find("accuracy") != std::string_view::npos || quantity.name == "f1";
}

// The heading of a quantity, with its unit.
std::string heading_of(const std::string& name) {
  if (const Derived* derived = find_named(kDerived, name)) return std::string(derived->title);
  const Quantity* quantity = find_named(kQuantities, name);
  if (quantity == nullptr) {
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
  }
  if (is_share(*quantity)) return fmt::format("{} (%)", quantity->title);
  if (quantity->unit.empty() || quantity->unit == "1/s") return std::string(quantity->title);
  return fmt::format("{} ({})", quantity->title, quantity->unit);
}

// A number with the digits that its table has.
std::string text_of(const Printed& printed) {
  const int digits =
      printed.half_unit <= 0 ? 0 : static_cast<int>(std::lround(-std::log10(2 * printed.half_unit)));
  return format_fixed(printed.value, std::max(0, digits));
}

/// Finds the texts of the quantities of configurations.
class Texts {
 public:
  Texts(const Analysis& analysis, std::span<const PublishedTable> tables)
      : analysis_(analysis), tables_(tables) {}

  /// Returns "" if there is no value. A score does not depend on what makes a time unreliable, so it has no
  /// marks.
  std::string of(const Coordinates& at, const std::string& name) const {
    if (find_named(kDerived, name) != nullptr) return derived_of(at, name);
    const Quantity* quantity = find_named(kQuantities, name);
    const MeasuredConfiguration* configuration = configuration_at(analysis_.configurations, at);
    const bool share = quantity != nullptr && is_share(*quantity);
    const std::string mean = configuration == nullptr ? "" : mean_of(*configuration, name, share ? 100 : 1);
    if (mean.empty()) return printed_of(at, name);
    const bool score = quantity != nullptr && quantity->kind == Quantity::Kind::kScore;
    return score ? mean : marked(mean, configuration->marks);
  }

  /// Throws Error if no configuration has a value.
  void require(std::span<const Coordinates> configurations, const std::string& name) const {
    if (std::any_of(configurations.begin(), configurations.end(),
                    [&](const Coordinates& at) { return !of(at, name).empty(); }))
      return;
    std::set<std::string> known;
    for (const Derived& derived : kDerived) known.emplace(derived.name);
    for (const MeasuredConfiguration& configuration : analysis_.configurations) {
      for (const auto& [quantity, statistics] : configuration.statistics) known.insert(quantity);
    }
    throw Error(fmt::format("no configuration of the tables has a value of \"{}\"", name),
                "use one of " + join(std::vector(known.begin(), known.end())));
  }

 private:
  std::string derived_of(const Coordinates& at, const std::string& name) const {
    const Derived* derived = find_named(kDerived, name);
    for (const Curve& curve : analysis_.curves) {
      for (const ScalingPoint& point : curve.points) {
        if (point.at == at) return marked(derived->text(point), point.marks_of_ratios);
      }
    }
    return "";
  }

  std::string printed_of(const Coordinates& at, const std::string& name) const {
    for (const PublishedTable& table : tables_) {
      for (const TableRow& row : table.rows) {
        const auto printed = row.printed.find(name);
        if (printed != row.printed.end() && coordinates(row.measurement) == at)
          return text_of(printed->second);
      }
    }
    return "";
  }

  const Analysis& analysis_;
  std::span<const PublishedTable> tables_;
};

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
  if (std::all_of(values.begin(), values.end(), [](const std::string& value) { return number_of(value); })) {
    std::sort(values.begin(), values.end(),
              [](const std::string& a, const std::string& b) { return *number_of(a) < *number_of(b); });
  }
  return values;
}

// The configurations that are wanted. Published ratios without times are only in curves.
std::vector<Coordinates> wanted_configurations(const Analysis& analysis, const PivotOptions& options) {
  std::vector<Coordinates> configurations;
  const auto add_wanted = [&](const Coordinates& at) {
    const bool wanted = std::all_of(options.only.begin(), options.only.end(), [&](const auto& only) {
      return coordinate(only.first).value(at) == only.second;
    });
    if (wanted && std::find(configurations.begin(), configurations.end(), at) == configurations.end())
      configurations.push_back(at);
  };
  for (const MeasuredConfiguration& configuration : analysis.configurations) add_wanted(configuration.at);
  for (const Curve& curve : analysis.curves) {
    for (const ScalingPoint& point : curve.points) add_wanted(point.at);
  }
  if (!configurations.empty()) return configurations;
  throw Error("the tables have no such configuration",
              "check the values of --only: convoke study analyze prints all configurations");
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
  const std::vector<Coordinates> configurations = wanted_configurations(analysis, options);
  const Texts texts(analysis, tables);
  for (const std::string& name : options.show) texts.require(configurations, name);
  const Places places = places_of(configurations, by_row, by_column);
  const std::vector<std::string> groups = values_in_order(configurations, by_column);

  TextTable table{"", "", {std::string(by_row.name)}, {}};
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
        row.push_back(place == places.end() ? "" : texts.of(place->second, name));
      }
    }
  }
  return without_empty_columns(std::move(table));
}

std::string to_markdown(const TextTable& table) {
  const auto line = [](const Row& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) text += " " + cell + " |";
    return text + "\n";
  };
  std::string text = line(table.columns) + "|";
  for (std::size_t c = 0; c < table.columns.size(); ++c) text += "---|";
  text += "\n";
  for (const Row& row : table.rows) text += line(row);
  return text;
}

}  // namespace convoke::study
