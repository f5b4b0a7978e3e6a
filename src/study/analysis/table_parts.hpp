#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "convoke/study/analysis/analysis.hpp"

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

}  // namespace convoke::study
