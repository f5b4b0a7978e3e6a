#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace convoke::explore {

/// Numbers in rows and columns, row-major; a row is a sample by default.
struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> values = {};  ///< (rows, columns)

  Matrix() = default;
  Matrix(std::int64_t row_count, std::int64_t column_count)
      : rows(row_count), columns(column_count), values(static_cast<std::size_t>(row_count * column_count)) {}

  double& operator()(std::int64_t r, std::int64_t c) {
    return values[static_cast<std::size_t>(r * columns + c)];
  }
  double operator()(std::int64_t r, std::int64_t c) const {
    return values[static_cast<std::size_t>(r * columns + c)];
  }
  std::span<double> row(std::int64_t r) {
    return std::span(values).subspan(static_cast<std::size_t>(r * columns),
                                     static_cast<std::size_t>(columns));
  }
  std::span<const double> row(std::int64_t r) const {
    return std::span(values).subspan(static_cast<std::size_t>(r * columns),
                                     static_cast<std::size_t>(columns));
  }
};

/// Returns the first `columns` of each row, or all if there are fewer.
Matrix first_columns(const Matrix& matrix, std::int64_t columns);
/// Returns the first `rows`, or all if there are fewer.
Matrix first_rows(const Matrix& matrix, std::int64_t rows);

}  // namespace convoke::explore
