#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace convoke::data_prep {

/// Parses a cell that holds a number, with or without blanks around it: "3", "-1.5e3", "+2", "inf"; none if
/// it holds anything else.
std::optional<double> number_in(const std::string& cell);

/// Parses a text that is a whole number and nothing else: "3", "-12"; none if it is too large.
std::optional<std::int64_t> whole_number_in(std::string_view text);

/// True for a missing value: an empty cell, NA, N/A, NaN, null, none or ?, in any case.
bool is_missing(const std::string& cell);

}  // namespace convoke::data_prep
