#pragma once
#include <optional>
#include <string>

namespace convoke::data_prep {

/// Parses a cell that holds a number, with or without blanks around it: "3", "-1.5e3", "+2", "inf"; none if
/// it holds anything else.
std::optional<double> number_in(const std::string& cell);

/// True for a missing value: an empty cell, NA, N/A, NaN, null, none or ?, in any case.
bool is_missing(const std::string& cell);

}  // namespace convoke::data_prep
