#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/explore/matrix.hpp"

namespace convoke::explore {

/// Pearson's correlation of every two columns of (n, F): (F, F), 1 on the diagonal. A column that does not
/// vary correlates with nothing: 0, also with itself.
Matrix correlations(const Matrix& samples);

/// How much of each column's variance the class explains, eta squared, in [0, 1]; 0 of a column that does not
/// vary. R. Fisher, "Statistical Methods for Research Workers", 1925. `labels`: (n), from 0.
std::vector<double> correlation_ratios(const Matrix& samples, std::span<const std::int32_t> labels);

}  // namespace convoke::explore
