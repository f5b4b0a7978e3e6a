#pragma once
#include <optional>
#include <string>

namespace convoke::data_prep {

/// Parses a cell that holds a number, with or without blanks around it: "3", "-1.5e3", "+2", "inf"; none if
/// it holds anything else.
std::optional<double> number_in(const std::string& cell);

/// True for a missing value: an empty cell, NA, N/A, NaN, null, none or ?, in any case.
bool is_missing(const std::string& cell);

/// Returns the same text for cells of one value in different spellings: those that are equal as numbers (1,
/// 1.0, 01), and true, false, yes and no in any case.
std::string value_key(const std::string& cell);

}  // namespace convoke::data_prep
