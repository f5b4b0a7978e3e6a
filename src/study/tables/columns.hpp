#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/study/tables/measurement.hpp"

namespace convoke::study {

/// A column of measurements.csv: converts between a cell and a part of a measurement.
struct Column {
  std::string_view name;
  void (*read)(TableRow& row, std::string_view name, const std::string& cell, double factor);
  std::string (*write)(const Measurement& measurement);
};

/// The columns in the order in which they are written; those of further numbers follow.
std::span<const Column> measurement_columns();

/// Before the names of further numbers in columns: "summary.phases.data.mean".
inline constexpr std::string_view kFurtherPrefix = "summary.";

/// The meaning of a column of any table.
struct ColumnRole {
  std::string column;       ///< a column of measurements.csv, also a further one, or one of kDerivedColumns;
                            ///< "" if unknown
  double factor = 1;        ///< factor on its numbers: 0.01 for percentages
  std::int64_t epochs = 0;  ///< "seconds_100_epochs": the time of this many epochs
};

/// Finds the meaning of a column name; ignores case, and blanks and hyphens count as underscores.
ColumnRole role_of(const std::string& name);

/// Returns every name that role_of knows, without patterns; for messages.
std::vector<std::string> known_columns();

/// Reads a cell into the row. Throws Error without a place, which the caller adds.
void read_cell(TableRow& row, const ColumnRole& role, const std::string& cell);

}  // namespace convoke::study
