#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/dataset_reader.hpp"
#include "convoke/explore/sample.hpp"

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
/// Returns these rows.
Matrix rows_at(const Matrix& matrix, std::span<const std::int64_t> rows);

/// Returns the indices of the `most` largest values, the largest first; lower indices first among equals.
template <class Index, class T>
std::vector<Index> largest(const std::vector<T>& values, std::int64_t most) {
  std::vector<Index> indices(values.size());
  std::iota(indices.begin(), indices.end(), Index{0});
  std::ranges::stable_sort(indices, [&](Index a, Index b) {
    return values[static_cast<std::size_t>(a)] > values[static_cast<std::size_t>(b)];
  });
  indices.resize(std::min(indices.size(), static_cast<std::size_t>(most)));
  return indices;
}

/// Samples as vectors with meaningful distances.
struct Vectors {
  Matrix rows;       ///< (n, D), D at most kMostColumns
  Shape shape = {};  ///< (h, w, C) if a row is an image; else empty
  std::string what;  ///< how they were made, for a caption
};

constexpr std::int64_t kMostColumns = 1024;

/// Reads the samples one by one and converts them:
///   images of 8 bits: pixels / 255, averaged over areas if there are more than kMostColumns values;
///   measured numbers: each channel or feature is standardized with `mean` and `deviation`; images are
///     averaged over areas, sequences over time; larger numbers of features are hashed with signs (K.
///     Weinberger et al., "Feature hashing for large scale multitask learning", ICML 2009);
///   tokens: tf-idf of the 1,000 tokens that occur in most samples, scaled to length 1 (G. Salton, C.
///     Buckley, Information Processing & Management 24, 1988), idf = ln(n / samples with the token) + 1.
Vectors vectors_of(const data::DatasetReader& reader, std::span<const SampleIndex> samples,
                   std::span<const double> mean, std::span<const double> deviation);

}  // namespace convoke::explore
