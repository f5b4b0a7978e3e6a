#pragma once
#include <Eigen/Dense>

#include "convoke/explore/vectors.hpp"

// Eigen's view of our matrices; only the sources of this area use Eigen.

namespace convoke::explore {

/// The variation of equal values caused by rounding, relative to them.
inline constexpr double kRounding = 1e-12;

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline Eigen::Map<const RowMajor> view(const Matrix& matrix) {
  return {matrix.values.data(), matrix.rows, matrix.columns};
}
inline Eigen::Map<RowMajor> view(Matrix& matrix) {
  return {matrix.values.data(), matrix.rows, matrix.columns};
}

}  // namespace convoke::explore
