#include "convoke/explore/matrix.hpp"

#include <algorithm>

namespace convoke::explore {

Matrix first_columns(const Matrix& matrix, std::int64_t columns) {
  Matrix first(matrix.rows, std::min(columns, matrix.columns));
  for (std::int64_t r = 0; r < matrix.rows; ++r) {
    std::copy_n(matrix.row(r).begin(), first.columns, first.row(r).begin());
  }
  return first;
}

Matrix first_rows(const Matrix& matrix, std::int64_t rows) {
  Matrix first(std::min(rows, matrix.rows), matrix.columns);
  std::copy_n(matrix.values.begin(), first.values.size(), first.values.begin());
  return first;
}

}  // namespace convoke::explore
