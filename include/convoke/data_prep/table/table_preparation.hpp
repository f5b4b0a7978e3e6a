#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/data_prep/files/numbers.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// A column of a table before fitting.
struct RawColumn {
  std::string name;
  bool numeric = true;       ///< false: its cells name categories
  NumberFormat format = {};  ///< of numbers
};

/// A fitted column, and the conversion of its cells to features.
struct TableColumn {
  std::string name;
  // Numbers: x -> (T(x) - center) / spread, one feature. T: Yeo-Johnson with `lambda`, if there is one.
  NumberFormat format = {};  ///< of the cells
  std::optional<double> lambda = {};
  double center = 0;
  double spread = 1;
  double mean = 0;        ///< replaces missing cells
  bool constant = false;  ///< all training cells are the same; known after fit() only
  // Categories: one feature for each, 1 for that of the cell, 0 for the others; all are 0 for a category that
  // training did not have.
  std::vector<std::string> categories = {};        ///< sorted by bytes; empty: the column is numeric
  std::size_t most_frequent = 0;                   ///< category; replaces missing cells
  std::map<std::string, std::size_t> places = {};  ///< of the categories, by value_key()

  bool numeric() const { return categories.empty(); }
  std::size_t width() const { return numeric() ? 1 : categories.size(); }

  /// Returns the category of a cell, in any spelling (value_key); none if training did not have it.
  std::optional<std::size_t> category_of(const std::string& cell) const;
};

/// The conversion of a table's rows to features (F), as scikit-learn's SimpleImputer (mean, most frequent),
/// PowerTransformer ("yeo-johnson", which also standardizes), StandardScaler ("standard"), MinMaxScaler
/// ("min-max") and OneHotEncoder(handle_unknown="ignore"). A constant column becomes 0, except with "none".
/// Categories that differ in their spelling only (value_key) are one, called by the shortest.
class TablePreparation {
 public:
  /// Throws Error for invalid options, naming the valid ones.
  static void check(const TableOptions& options);

  /// Learns from the training rows. `next_row` returns them one by one, a cell for each of `columns`, until
  /// it returns false. Throws Error naming the column if it has no value, or if its categories rarely repeat
  /// (more than 20 and more than half as many as rows).
  static TablePreparation fit(const TableOptions& options, const std::vector<RawColumn>& columns,
                              const std::function<bool(std::vector<std::string>& cells)>& next_row);

  /// Reads the text that to_json() wrote. Throws Error beginning with `where`.
  static TablePreparation from_json(const std::string& json, const std::string& where);
  std::string to_json() const;

  /// Computes the features of a row, whose cells are in the order of columns(); `features` has room for
  /// width(). Throws Error naming the column if a numeric cell is not a finite number, or if a feature
  /// exceeds a float.
  void encode(std::span<const std::string> cells, std::span<float> features) const;

  const std::vector<TableColumn>& columns() const { return columns_; }
  /// Number of features of a row.
  std::size_t width() const;

 private:
  std::vector<TableColumn> columns_;
};

}  // namespace convoke::data_prep
