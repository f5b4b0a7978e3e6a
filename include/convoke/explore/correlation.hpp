#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/explore/vectors.hpp"

namespace convoke::explore {

/// Returns Pearson's correlation of every two columns of (n, F): (F, F), 1 on the diagonal. The correlations
/// of a constant column are 0, also with itself.
Matrix correlations(const Matrix& samples);

/// Returns Spearman's rank correlation of every two columns: Pearson's of their ranks, where equal values
/// have the mean of their ranks. It is 1 for any increasing relation, also a curved one. C. Spearman, "The
/// proof and measurement of association between two things", American Journal of Psychology 15, 1904.
Matrix rank_correlations(const Matrix& samples);

/// Returns the share of each column's variance that the class explains, eta squared, in [0, 1]; 0 for a
/// constant column. R. Fisher, "Statistical Methods for Research Workers", 1925. `labels`: (n), from 0.
std::vector<double> correlation_ratios(const Matrix& samples, std::span<const std::int32_t> labels);

}  // namespace convoke::explore
