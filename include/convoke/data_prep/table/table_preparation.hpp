#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// A column of a table, before anything is learnt.
struct RawColumn {
  std::string name;
  bool numeric = true;  ///< else its cells name categories
};

/// What is learnt of a column, and how its cells become features.
struct TableColumn {
  std::string name;
  // Of numbers: x -> (T(x) - center) / spread, one feature. T: Yeo-Johnson with `lambda`, if there is one.
  std::optional<double> lambda = {};
  double center = 0;
  double spread = 1;
  double mean = 0;        ///< stands for missing cells
  bool constant = false;  ///< all training cells are the same; known after fit() only
  // Of categories: a feature for each, 1 for that of the cell, 0 for the others; for a category that was not
  // seen in training, all are 0.
  std::vector<std::string> categories = {};  ///< in the order of their bytes; none: the column is numeric
  std::size_t most_frequent = 0;             ///< category; stands for missing cells

  bool numeric() const { return categories.empty(); }
  std::size_t width() const { return numeric() ? 1 : categories.size(); }
};

/// How the rows of a table become features (F), as scikit-learn's SimpleImputer (mean, most frequent),
/// PowerTransformer ("yeo-johnson", which standardises too), StandardScaler ("standard"), MinMaxScaler
/// ("min-max") and OneHotEncoder(handle_unknown="ignore") do. A constant column becomes 0.
class TablePreparation {
 public:
  /// Refuses options that cannot be: Error naming what is known.
  static void check(const TableOptions& options);

  /// Learns from the training rows, which `next_row` hands over one by one, a cell for each of `columns`,
  /// until it returns false. Throws Error naming the column: one without a value, and categories that are
  /// hardly ever the same (more than 20 and more than half as many as rows).
  static TablePreparation fit(const TableOptions& options, const std::vector<RawColumn>& columns,
                              const std::function<bool(std::vector<std::string>& cells)>& next_row);

  /// As to_json() wrote it. Throws Error beginning with `where`.
  static TablePreparation from_json(const std::string& json, const std::string& where);
  std::string to_json() const;

  /// The features of a row, whose cells are in the order of columns(); `features` has room for width().
  /// Throws Error naming the column: a cell that is no finite number where one is wanted, or a feature that
  /// is beyond a float.
  void encode(std::span<const std::string> cells, std::span<float> features) const;

  const std::vector<TableColumn>& columns() const { return columns_; }
  /// Features of a row.
  std::size_t width() const;

 private:
  std::vector<TableColumn> columns_;
};

}  // namespace convoke::data_prep
