#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/study/analysis/analysis.hpp"
#include "convoke/study/analysis/pivot.hpp"

// Common parts of the tables of an analysis.

namespace convoke::study {

using Row = std::vector<std::string>;

/// Returns the configuration's name with its marks.
std::string label(const MeasuredConfiguration& configuration);

/// Returns the name of coordinates that may have no configuration, such as a prediction.
std::string label(const Coordinates& at, const Analysis& analysis);

/// Returns a quantity's mean and half its interval; "" if it was not measured.
std::string mean_of(const MeasuredConfiguration& configuration, std::string_view quantity, double factor = 1);

/// Returns "4", or "4 x 2" with threads; the mode if ranks are unknown.
std::string ranks_text(const Coordinates& at);

/// Returns the table without the columns that have no value in any row.
TextTable without_empty_columns(TextTable table);

/// Adds the table without its empty columns; adds nothing if it has no rows.
void add(std::vector<TextTable>& all, TextTable table);

/// Returns the tables of curves, fractions, laws, work that grows with the workers, and predictions.
void add_scaling_tables(std::vector<TextTable>& all, const Analysis& analysis);

// The results of an analysis, one by one, by the names that a user gives.

/// A property of a configuration, as text.
struct Coordinate {
  std::string_view name;
  std::string (*value)(const Coordinates& at);
};

/// Throws Error for an unknown name.
const Coordinate& coordinate(const std::string& name);

/// Returns the configurations that have these values; published ratios without times are only in curves,
/// other figures without times only in the tables. Throws Error if there is none.
std::vector<Coordinates> wanted_configurations(const Analysis& analysis, std::span<const Only> only);

/// A quantity of a configuration, in the unit of heading_of: shares as percentages.
struct Figure {
  double value = 0;
  std::optional<Interval> interval;     ///< empty for a single run
  std::string text;                     ///< "98.16 ± 0.13"; a ratio has the ends of its interval
  std::vector<std::string> marks = {};  ///< a score has none: what makes a time unreliable does not change it
  std::optional<Coordinates> base = {};  ///< of a ratio
};

/// Returns a quantity (see PivotOptions::show) of a configuration; empty if it has no such value.
std::optional<Figure> figure_of(const Analysis& analysis, const Coordinates& at, const std::string& quantity);

/// Returns the numbers that the tables print in this column for a configuration of their analysis, without
/// those of failed runs.
std::vector<Printed> printed_numbers(std::span<const PublishedTable> tables, const Coordinates& at,
                                     std::string_view column);

/// Returns the heading of a quantity, with its unit: "test accuracy (%)".
std::string heading_of(const std::string& quantity);

/// True for a quantity of 0 to 1 that is shown as a percentage.
bool is_share(const std::string& quantity);

/// Returns the names of all quantities that a configuration has.
std::vector<std::string> known_quantities(const Analysis& analysis);

}  // namespace convoke::study
