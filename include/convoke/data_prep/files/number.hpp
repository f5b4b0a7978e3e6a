#pragma once
#include <optional>
#include <string>

namespace convoke::data_prep {

/// The number that a cell holds, blanks around it left out: "3", "-1.5e3", "+2", "inf"; none if it holds
/// anything else.
std::optional<double> number_in(const std::string& cell);

/// True of what stands where a value is missing: nothing, NA, N/A, NaN, null, none or ?, in any case.
bool is_missing(const std::string& cell);

}  // namespace convoke::data_prep
