#include "study/tables/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <sstream>
#include <utility>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/study/tables/measured_configuration.hpp"

namespace convoke::study {
namespace {

// Limits for any figure, and for a time: sums, quotients and squares of such numbers are finite.
constexpr double kMost = 1e12, kLeastSeconds = 1e-9;
constexpr double kMostFurther = 1e100;  // squares are finite
constexpr std::int64_t kMostCount = 1'000'000'000;

// Parses the number, and half a unit of its last digit: "73.62" is 73.62 and 0.005, "1.5e3" 1500 and 50.
Printed printed_number(const std::string& text) {
  const std::optional<double> value = parse_number<double>(text);
  if (!value || !std::isfinite(*value)) {
    throw Error(fmt::format("is \"{}\": a number is expected", text));
  }
  if (std::abs(*value) > kMost) {
    throw Error(fmt::format("is {}: at most {:g} is expected", text, kMost));
  }
  const std::size_t e = text.find_first_of("eE");
  const std::size_t point = text.find('.');
  const auto decimals =
      point == std::string::npos ? 0.0 : static_cast<double>(std::min(e, text.size()) - point - 1);
  const double exponent = e == std::string::npos ? 0.0 : std::strtod(text.c_str() + e + 1, nullptr);
  return {.value = *value, .half_unit = 0.5 * std::pow(10.0, exponent - decimals)};
}

std::int64_t whole_number(const std::string& text, std::int64_t least) {
  const std::optional<std::int64_t> value = parse_number<std::int64_t>(text);
  if (!value || *value < least || *value > kMostCount) {
    throw Error(fmt::format("is \"{}\": a whole number from {} to {} is expected", text, least,
                            format_count(kMostCount)));
  }
  return *value;
}

// Returns the shortest text that reads back as the same number.
std::string exact(double value) { return fmt::format("{}", value); }

// Joins several columns of names to one label.
template <auto Member>
constexpr Column words(std::string_view name) {
  return {name,
          [](TableRow& row, std::string_view, const std::string& cell, double) {
            std::string& text = row.measurement.*Member;
            if (!cell.empty()) text += (text.empty() ? "" : ", ") + cell;
          },
          [](const Measurement& m) { return m.*Member; }};
}

template <auto Member, std::int64_t kLeast>
constexpr Column count(std::string_view name) {
  return {name,
          [](TableRow& row, std::string_view, const std::string& cell, double) {
            if (!cell.empty()) row.measurement.*Member = whole_number(cell, kLeast);
          },
          [](const Measurement& m) { return fmt::format("{}", m.*Member); }};
}

// Reads a number, and checks its range: a time is not 0, because other values are divided by it; a score is 1
// at best; a kappa is below 0 if labels agree less often than by chance.
void read_quantity(TableRow& row, std::string_view name, const std::string& cell, double factor) {
  if (cell.empty()) return;
  const Quantity& quantity = *std::ranges::find(kQuantities, name, &Quantity::name);
  const Printed number = printed_number(cell);
  const double value = number.value * factor;
  if (quantity.member == &Measurement::quadratic_kappa) {
    if (std::abs(number.value) > 1)
      throw Error(fmt::format("is {}: a number from -1 to 1 is expected", cell));
  } else if (number.value < 0) {
    throw Error(fmt::format("is {}: at least 0 is expected", cell));
  }
  if (quantity.kind == Quantity::Kind::kTime && value < kLeastSeconds) {
    throw Error(fmt::format("is {}: a time from {:g} s on is expected", cell, kLeastSeconds),
                "leave it empty if there is none");
  }
  if (quantity.kind == Quantity::Kind::kScore && value > 1) {
    throw Error(fmt::format("is {}: at most 1 is expected", cell),
                fmt::format("use a column {}_percent for percentages", name));
  }
  row.measurement.*quantity.member = value;
  row.printed[std::string(name)] = {value, number.half_unit * factor};
}

template <std::optional<double> Measurement::*kMember>
constexpr Column quantity(std::string_view name) {
  return {name, read_quantity, [](const Measurement& m) { return m.*kMember ? exact(*(m.*kMember)) : ""; }};
}

void read_fraction(TableRow& row, std::string_view, const std::string& cell, double factor) {
  if (cell.empty()) return;
  const double fraction = printed_number(cell).value * factor;
  if (fraction <= 0 || fraction > 1)
    throw Error(fmt::format("is {}: above 0 and at most 1 is expected", cell));
  row.measurement.fraction = fraction;
}

struct RenamedMark {
  std::string_view before, now;
};

// Marks that earlier versions wrote under other names.
constexpr std::array kRenamedMarks{
    RenamedMark{"disturbed", "contended"},
    RenamedMark{"as if", "emulated"},
};

std::string mark_named(const std::string& written) {
  const auto found = std::ranges::find(kRenamedMarks, std::string_view(written), &RenamedMark::before);
  return found == kRenamedMarks.end() ? written : std::string(found->now);
}

// Marks may be written as the program prints them: "OVERSUBSCRIBED, CONTENDED".
void read_marks(TableRow& row, std::string_view, const std::string& cell, double) {
  std::string list = lower_case(cell);
  std::ranges::replace(list, ',', ';');
  std::istringstream in(list);
  for (std::string mark; std::getline(in, mark, ';');) {
    if (mark = trimmed(mark); !mark.empty()) row.measurement.marks.push_back(mark_named(mark));
  }
}

template <std::size_t... kIndex>
constexpr auto columns_with(std::index_sequence<kIndex...>) {
  return std::array{
      words<&Measurement::system>("system"),
      words<&Measurement::mode>("mode"),
      count<&Measurement::ranks, 1>("ranks"),
      count<&Measurement::threads, 1>("threads"),
      Column{"fraction", read_fraction, [](const Measurement& m) { return exact(m.fraction); }},
      words<&Measurement::batch>("batch"),
      words<&Measurement::variant>("variant"),
      count<&Measurement::repeat, 1>("repeat"),
      quantity<kQuantities[kIndex].member>(kQuantities[kIndex].name)...,
      count<&Measurement::epochs, 0>("epochs"),
      words<&Measurement::dataset_hash>("dataset_hash"),
      words<&Measurement::machine>("machine"),
      words<&Measurement::started>("started"),
      Column{"marks", read_marks,
             [](const Measurement& m) { return fmt::format("{}", fmt::join(m.marks, "; ")); }},
  };
}

constexpr auto kColumns = columns_with(std::make_index_sequence<kQuantities.size()>());

struct Alias {
  std::string_view name, column;
  double factor = 1;
};

constexpr std::array kAliases{
    Alias{"recipe", "system"},
    Alias{"framework", "system"},
    Alias{"application", "system"},
    Alias{"node_type", "machine"},
    Alias{"processor", "machine"},
    Alias{"device", "mode"},
    Alias{"strategy", "mode"},
    Alias{"devices", "ranks"},
    Alias{"cores", "ranks"},
    Alias{"gpus", "ranks"},
    Alias{"processes", "ranks"},
    Alias{"workers", "ranks"},
    Alias{"share", "fraction"},
    Alias{"fraction_percent", "fraction", 0.01},
    Alias{"portion", "fraction"},  // in files of earlier versions
    Alias{"portion_percent", "fraction", 0.01},
    Alias{"run", "repeat"},
    Alias{"seconds", "makespan_seconds"},
    Alias{"total_seconds", "makespan_seconds"},
    Alias{"training_seconds", "makespan_seconds"},
    Alias{"wall_seconds", "makespan_seconds"},
    Alias{"slowest_rank_seconds", "makespan_seconds"},
    Alias{"seconds_per_epoch", "epoch_seconds"},
    Alias{"samples_per_second", "images_per_second"},
    Alias{"test_accuracy", "accuracy"},
    Alias{"accuracy_percent", "accuracy", 0.01},
    Alias{"test_accuracy_percent", "accuracy", 0.01},
    Alias{"train_accuracy", "training_accuracy"},
    Alias{"training_accuracy_percent", "training_accuracy", 0.01},
    Alias{"train_accuracy_percent", "training_accuracy", 0.01},
    Alias{"val_accuracy", "validation_accuracy"},
    Alias{"validation_accuracy_percent", "validation_accuracy", 0.01},
    Alias{"f1_score", "f1"},
    Alias{"f1_percent", "f1", 0.01},
    Alias{"kappa", "quadratic_kappa"},
    Alias{"auc", "roc_auc"},
    Alias{"roc_auc_percent", "roc_auc", 0.01},
    Alias{"energy_joules", "joules"},
    Alias{"speed_up", "speedup"},
    Alias{"acceleration", "speedup"},
    Alias{"efficiency_percent", "efficiency", 0.01},
    Alias{"mean_seconds", "mean_over_ranks_seconds"},
    Alias{"dollars_per_hour", "price_per_hour"},
    Alias{"euros_per_hour", "price_per_hour"},
    Alias{"dollars_per_training", "cost_per_training"},
    Alias{"euros_per_training", "cost_per_training"},
};

// Returns the number between `before` and `after` in `name`; 0 if it does not have that form.
std::int64_t number_within(std::string_view name, std::string_view before, std::string_view after) {
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after))
    return 0;
  name = name.substr(before.size(), name.size() - before.size() - after.size());
  return parse_number<std::int64_t>(name).value_or(0);
}

}  // namespace

std::span<const Column> measurement_columns() { return kColumns; }

ColumnRole role_of(const std::string& written) {
  std::string name = trimmed(written);
  if (name.starts_with(kFurtherPrefix) && name.size() > kFurtherPrefix.size()) return {.column = name};
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return c == ' ' || c == '-' ? '_' : static_cast<char>(std::tolower(c));
  });
  const auto named = [&](const auto& entry) { return entry.name == name; };
  if (std::ranges::any_of(kColumns, named)) return {.column = name};
  if (std::ranges::find(kDerivedColumns, std::string_view(name)) != std::end(kDerivedColumns)) {
    return {.column = name};
  }
  if (const auto it = std::ranges::find_if(kAliases, named); it != kAliases.end()) {
    return {.column = std::string(it->column), .factor = it->factor};
  }
  if (const std::int64_t epochs = number_within(name, "seconds_", "_epochs"); epochs > 0) {
    return {.column = "makespan_seconds", .epochs = epochs};
  }
  if (number_within(name, "efficiency_over_", "_devices") > 0) return {.column = "efficiency"};
  return {};
}

std::vector<std::string> known_columns() {
  std::vector<std::string> names = names_in(kColumns);
  for (const std::string_view name : kDerivedColumns) names.emplace_back(name);
  for (const Alias& alias : kAliases) names.emplace_back(alias.name);
  return names;
}

void read_cell(TableRow& row, const ColumnRole& role, const std::string& text) {
  const std::string cell = trimmed(text);
  for (const Column& column : kColumns) {
    if (column.name != role.column) continue;
    column.read(row, column.name, cell, role.factor);
    if (role.epochs > 0) row.measurement.epochs = role.epochs;
    return;
  }
  if (cell.empty()) return;
  if (role.column.starts_with(kFurtherPrefix)) {  // any number of a summary, such as a seed
    const std::optional<double> value = parse_number<double>(cell);
    if (!value || !(std::abs(*value) <= kMostFurther))
      throw Error(fmt::format("is \"{}\": a number is expected", cell));
    row.measurement.further[role.column.substr(kFurtherPrefix.size())] = *value;
    return;
  }
  const Printed number = printed_number(cell);
  row.printed[role.column] = {number.value * role.factor, number.half_unit * role.factor};
}

}  // namespace convoke::study
