#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/study/tables/published_table.hpp"

namespace convoke::study {

/// A column of measurements.csv: how a cell becomes part of a row, and a measurement a cell.
struct Column {
  std::string_view name;
  void (*read)(TableRow& row, std::string_view name, const std::string& cell, double factor);
  std::string (*write)(const Measurement& measurement);
};

/// In the order in which they are written.
std::span<const Column> measurement_columns();

/// What a column of somebody's table means here.
struct ColumnRole {
  std::string column;       ///< of measurements.csv, or one of kDerivedColumns; "" if nobody knows it
  double factor = 1;        ///< on its numbers: 0.01 for percentages
  std::int64_t epochs = 0;  ///< "seconds_100_epochs": the time of so many
};

/// By its name as it is written; lower and upper case are the same, and so are blanks and underscores.
ColumnRole role_of(const std::string& name);

/// Every name that role_of knows, without patterns: for messages.
std::vector<std::string> known_columns();

/// Reads a cell into the row. Throws Error without a place: the caller knows it.
void read_cell(TableRow& row, const ColumnRole& role, const std::string& cell);

}  // namespace convoke::study
