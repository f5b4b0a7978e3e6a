#include "convoke/data_prep/table/table_preparation.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "convoke/core/csv.hpp"
#include "convoke/core/table.hpp"
#include "convoke/data_prep/files/numbers.hpp"
#include "convoke/data_prep/table/yeo_johnson.hpp"
#include "preparation_json.hpp"

namespace convoke::data_prep {
namespace {

using Values = Eigen::Map<const Eigen::ArrayXd>;

void leave(std::vector<double>&, TableColumn&) {}

void standardize(std::vector<double>& values, TableColumn& column) {
  const Values x(values.data(), static_cast<Eigen::Index>(values.size()));
  column.center = x.mean();
  if (column.constant) {
    column.center = x[0];  // avoids the rounding error of the mean
  } else {
    column.spread = std::sqrt((x - column.center).square().mean());
  }
}

void scale_to_unit(std::vector<double>& values, TableColumn& column) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  column.center = *low;
  if (*high > *low) column.spread = *high - *low;
}

void transform_power(std::vector<double>& values, TableColumn& column) {
  column.lambda = yeo_johnson_lambda(values);
  for (double& value : values) value = yeo_johnson(value, *column.lambda);
  standardize(values, column);
}

/// The scaling of a column of numbers; learns from the column's values, and may change them.
struct Scale {
  std::string_view name;
  void (*learn)(std::vector<double>& values, TableColumn& column);
};
constexpr std::array kScales{Scale{"none", leave}, Scale{"standard", standardize},
                             Scale{"min-max", scale_to_unit}, Scale{"yeo-johnson", transform_power}};

const Scale& find_scale(const TableOptions& options) { return find_in(kScales, options.scale, "scale"); }

double finite_number(const std::string& cell, const std::string& column, const NumberFormat& format) {
  const std::optional<double> number = format.read(cell);
  if (number && std::isfinite(*number)) return *number;
  const std::string what =
      fmt::format("column \"{}\": \"{}\" is not a {}number", column, cell, number ? "finite " : "");
  const bool comma = format.decimal == ',';
  const NumberFormat other{comma ? '.' : ',', '\0', format.percent, format.currency};
  if (number || !other.read(cell)) throw Error(what);
  throw Error(
      fmt::format("{} with a decimal {}, as in the training table", what, comma ? "comma" : "point"),
      fmt::format("write it with a decimal {}; or, if the numbers of the training table can be read in two "
                  "ways, prepare it again with --decimal {}",
                  comma ? "comma" : "point", comma ? "point" : "comma"));
}

/// A category of the training cells: its shortest spelling, and its frequency.
struct Category {
  std::string name;
  std::int64_t times = 0;
};

/// The training cells of a column.
struct Cells {
  std::vector<double> numbers;
  std::map<std::string, Category> categories;  // by value_key()

  void add_category(const std::string& name) {
    Category& category = categories[value_key(name)];
    const auto comes_first = [&] {
      return std::pair(name.size(), name) < std::pair(category.name.size(), category.name);
    };
    if (category.times++ == 0 || comes_first()) category.name = name;
  }
};

TableColumn learn_numbers(const RawColumn& raw, std::vector<double>& numbers, const Scale& scale) {
  const std::string& name = raw.name;
  if (numbers.empty()) {
    throw Error(fmt::format("column \"{}\": has no value in the training rows", name),
                "choose the other columns with --features");
  }
  TableColumn column{.name = name, .format = raw.format};
  column.constant =
      std::all_of(numbers.begin(), numbers.end(), [&](double x) { return x == numbers.front(); });
  column.mean = Values(numbers.data(), static_cast<Eigen::Index>(numbers.size())).mean();
  scale.learn(numbers, column);
  if (!std::isfinite(column.mean) || !std::isfinite(column.center) || !std::isfinite(column.spread) ||
      column.spread == 0) {
    throw Error(
        fmt::format("column \"{}\": its numbers are too {}", name, column.spread == 0 ? "small" : "large"));
  }
  return column;
}

void find_places(TableColumn& column) {
  for (std::size_t i = 0; i < column.categories.size(); ++i)
    column.places.emplace(value_key(column.categories[i]), i);
}

TableColumn learn_categories(const std::string& name, const Cells& cells, std::size_t rows) {
  constexpr std::size_t kSurelyCategories = 20;
  const std::size_t count = cells.categories.size();
  if (count == 0 || (count > kSurelyCategories && 2 * count > rows)) {
    throw Error(count == 0 ? fmt::format("column \"{}\": has no value in the training rows", name)
                           : fmt::format("column \"{}\": has {} different values in {} rows, such as \"{}\";"
                                         " they cannot be categories",
                                         name, count, rows, cells.categories.begin()->second.name),
                count == 0 ? "choose the other columns with --features"
                           : "choose the other columns with --features; texts are read with --kind text-csv "
                             "--text-column NAME");
  }
  TableColumn column{.name = name};
  column.constant = count == 1;
  std::map<std::string, std::int64_t> by_name;
  for (const auto& [key, category] : cells.categories) by_name[category.name] = category.times;
  std::int64_t most = 0;
  for (const auto& [category, times] : by_name) {
    if (times > most) {
      most = times;
      column.most_frequent = column.categories.size();
    }
    column.categories.push_back(category);
  }
  find_places(column);
  return column;
}

Json to_json_object(const NumberFormat& format) {
  Json json{{"decimal", std::string(1, format.decimal)}};
  if (format.thousands != 0) json["thousands"] = std::string(1, format.thousands);
  if (format.percent) json["percent"] = true;
  if (!format.currency.empty()) json["currency"] = format.currency;
  return json;
}

NumberFormat format_from(const Json& json) {
  const std::string decimal = json.at("decimal").get<std::string>(), thousands = json.value("thousands", "");
  return {.decimal = decimal == "," ? ',' : '.',
          .thousands = thousands.empty() ? '\0' : thousands[0],
          .percent = json.value("percent", false),
          .currency = json.value("currency", "")};
}

Json to_json_object(const TableColumn& column) {
  Json json{{"name", column.name}};
  if (!column.numeric()) {
    json["categories"] = column.categories;
    json["missing"] = column.categories[column.most_frequent];
    return json;
  }
  if (column.format != NumberFormat{}) json["format"] = to_json_object(column.format);
  if (column.lambda) json["lambda"] = *column.lambda;
  json["center"] = column.center;
  json["spread"] = column.spread;
  json["missing"] = column.mean;
  return json;
}

TableColumn from_json_object(const Json& json, const std::string& where) {
  TableColumn column{.name = json.at("name").get<std::string>()};
  if (json.contains("categories")) {
    column.categories = json["categories"].get<std::vector<std::string>>();
    const auto it =
        std::find(column.categories.begin(), column.categories.end(), json.at("missing").get<std::string>());
    column.most_frequent = static_cast<std::size_t>(it - column.categories.begin());
    if (it == column.categories.end() ||
        !std::is_sorted(column.categories.begin(), column.categories.end())) {
      throw Error(fmt::format("{}: is damaged: the categories of column \"{}\"", where, column.name));
    }
    find_places(column);
    return column;
  }
  if (json.contains("format")) column.format = format_from(json["format"]);
  if (json.contains("lambda")) column.lambda = json["lambda"].get<double>();
  column.center = json.at("center").get<double>();
  column.spread = json.at("spread").get<double>();
  column.mean = json.at("missing").get<double>();
  if (!(column.spread > 0)) {
    throw Error(fmt::format("{}: is damaged: the spread of column \"{}\"", where, column.name));
  }
  return column;
}

}  // namespace

std::optional<std::size_t> TableColumn::category_of(const std::string& cell) const {
  // Older models have a category for each spelling.
  const auto same = std::ranges::lower_bound(categories, trimmed(cell));
  if (same != categories.end() && *same == trimmed(cell))
    return static_cast<std::size_t>(same - categories.begin());
  const auto it = places.find(value_key(cell));
  return it == places.end() ? std::nullopt : std::optional(it->second);
}

void TablePreparation::check(const TableOptions& options) { find_scale(options); }

TablePreparation TablePreparation::fit(const TableOptions& options, const std::vector<RawColumn>& columns,
                                       const std::function<bool(std::vector<std::string>& cells)>& next_row) {
  const Scale& scale = find_scale(options);
  std::vector<Cells> seen(columns.size());
  std::size_t rows = 0;
  for (std::vector<std::string> cells; next_row(cells); ++rows) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (columns[c].numeric ? is_missing_number(cells[c]) : is_missing(cells[c])) continue;
      if (columns[c].numeric) {
        seen[c].numbers.push_back(finite_number(cells[c], columns[c].name, columns[c].format));
      } else {
        seen[c].add_category(trimmed(cells[c]));
      }
    }
  }
  TablePreparation table;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    table.columns_.push_back(columns[c].numeric ? learn_numbers(columns[c], seen[c].numbers, scale)
                                                : learn_categories(columns[c].name, seen[c], rows));
  }
  return table;
}

TablePreparation TablePreparation::from_json(const std::string& json, const std::string& where) {
  return read_preparation(json, "table", where, [&](const Json& read) {
    TablePreparation table;
    for (const Json& column : read.at("columns")) table.columns_.push_back(from_json_object(column, where));
    return table;
  });
}

std::string TablePreparation::to_json() const {
  Json columns = Json::array();
  for (const TableColumn& column : columns_) columns.push_back(to_json_object(column));
  return Json{{"kind", "table"}, {"columns", columns}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::size_t TablePreparation::width() const {
  std::size_t width = 0;
  for (const TableColumn& column : columns_) width += column.width();
  return width;
}

void TablePreparation::encode(std::span<const std::string> cells, std::span<float> features) const {
  std::fill(features.begin(), features.end(), 0.0F);
  std::size_t at = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const TableColumn& column = columns_[c];
    const bool missing = column.numeric() ? is_missing_number(cells[c]) : is_missing(cells[c]);
    if (column.numeric()) {
      const double number = missing ? column.mean : finite_number(cells[c], column.name, column.format);
      const double transformed = column.lambda ? yeo_johnson(number, *column.lambda) : number;
      features[at] = static_cast<float>((transformed - column.center) / column.spread);
      if (!std::isfinite(features[at])) {
        throw Error(
            fmt::format("column \"{}\": \"{}\" is too far from the training rows", column.name, cells[c]));
      }
    } else if (missing) {
      features[at + column.most_frequent] = 1;
    } else if (const std::optional<std::size_t> category = column.category_of(cells[c])) {
      features[at + *category] = 1;
    }
    at += column.width();
  }
}

}  // namespace convoke::data_prep
