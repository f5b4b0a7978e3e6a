#include "convoke/data_prep/sources/table_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/number.hpp"
#include "convoke/data_prep/sources/csv_catalogue.hpp"
#include "convoke/data_prep/table/table_preparation.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

/// A column that may be a feature, and the properties of its cells.
struct Candidate {
  std::size_t column = 0;  // in the file
  bool numeric = true;
  std::int64_t missing = 0;
};

class TableSource final : public Source {
 public:
  TableSource(const fs::path& file, const SourceOptions& options)
      : options_(options.table), reader_(file), header_(read_header(reader_)) {
    TablePreparation::check(options_);
    const ColumnOptions& columns = options.columns;
    const CsvRoles roles = find_roles(header_, columns, true, file);
    find_candidates(columns, roles, file);
    CsvCatalogue list = list_rows(file, roles, columns, options.class_names,
                                  [&](const CsvRow& row, Item& item) { examine(row, item); });
    catalogue_ = std::move(list.catalogue);
    rows_ = std::move(list.rows);
    keep_features(columns, roles, file);
    catalogue_.provenance = fmt::format("rows of {}", file.string());
  }

  const Catalogue& catalogue() const override { return catalogue_; }

  void fit(std::span<const std::size_t> training) override {
    std::vector<RawColumn> columns;
    for (const Candidate& feature : features_)
      columns.push_back({header_.names[feature.column], feature.numeric});
    auto next = training.begin();
    preparation_ = TablePreparation::fit(options_, columns, [&](std::vector<std::string>& cells) {
      if (next == training.end()) return false;
      read_cells(*next++);
      cells = cells_;
      return true;
    });
    for (const TableColumn& column : preparation_->columns()) {
      if (column.constant) {
        catalogue_.notes.push_back(
            fmt::format("column \"{}\" is the same in all training rows", column.name));
      }
    }
  }

  SampleFormat format() const override {
    ensure(preparation_.has_value(), "the source was fitted");
    return {.shape = Shape{static_cast<std::int64_t>(preparation_->width())},
            .type = data::SampleType::kFloat32,
            .preparation = preparation_->to_json()};
  }

  Original read(std::size_t item, std::span<std::byte> sample) override {
    ensure(preparation_.has_value(), "the source was fitted");
    read_cells(item);
    std::uint64_t bytes = 0;
    for (const std::string& cell : cells_) bytes += cell.size();
    try {
      preparation_->encode(cells_, {reinterpret_cast<float*>(sample.data()), sample.size() / sizeof(float)});
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", reader_.at(row_), error.what()), error.hint());
    }
    return {.bytes = bytes};
  }

 private:
  // Takes the named columns in their order, or all columns without another use.
  void find_candidates(const ColumnOptions& columns, const CsvRoles& roles, const fs::path& file) {
    for (const std::string& name : columns.features) {
      const std::size_t column = *find_column(header_, name, {}, file);
      if (column == roles.label) {
        throw Error(fmt::format("{}: column \"{}\" is both label and feature", file.string(), name));
      }
      features_.push_back({.column = column});
    }
    if (!columns.features.empty()) return;
    for (std::size_t c = 0; c < header_.names.size(); ++c) {
      const bool used = c == roles.label || c == roles.group || c == roles.weight ||
                        (c == roles.split && !columns.split.empty());
      if (!used) features_.push_back({.column = c});
    }
  }

  void examine(const CsvRow& row, Item& item) {
    for (Candidate& feature : features_) {
      const std::string& cell = row.cells[feature.column];
      const std::optional<double> number = number_in(cell);
      if (is_missing(cell)) {
        ++feature.missing;
      } else if (!number) {
        feature.numeric = false;
      } else if (!std::isfinite(*number)) {
        item.fault =
            fmt::format("column \"{}\": \"{}\" is not a finite number", header_.names[feature.column], cell);
      }
    }
  }

  // A column whose name suggests splits may hold something else; it is a feature then.
  void keep_features(const ColumnOptions& columns, const CsvRoles& roles, const fs::path& file) {
    const bool splits = std::any_of(catalogue_.items.begin(), catalogue_.items.end(),
                                    [](const Item& item) { return !item.split.empty(); });
    if (columns.features.empty() && splits) {
      std::erase_if(features_, [&](const Candidate& feature) { return feature.column == roles.split; });
    }
    if (features_.empty()) {
      throw Error(fmt::format("{}: there is no column left for features", file.string()),
                  "columns: " + join(header_.names));
    }
    std::vector<std::string> missing;
    for (const Candidate& feature : features_) {
      if (feature.missing == 0) continue;
      missing.push_back(
          fmt::format("{} in \"{}\"", format_count(feature.missing), header_.names[feature.column]));
    }
    if (!missing.empty()) {
      catalogue_.notes.push_back(
          "missing cells: " + join(missing) +
          "; they are replaced by the mean or the most frequent category of the training rows");
    }
  }

  // Reads the features' cells of a row.
  void read_cells(std::size_t item) {
    reader_.seek(rows_[item]);
    reader_.next(row_);
    cells_.clear();
    for (const Candidate& feature : features_) cells_.push_back(row_.cells.at(feature.column));
  }

  TableOptions options_;
  CsvReader reader_;
  CsvHeader header_;
  Catalogue catalogue_;
  std::vector<CsvRow> rows_;  // of items
  std::vector<Candidate> features_;
  std::optional<TablePreparation> preparation_;  // after fit()
  CsvRow row_;                                   // of read_cells()
  std::vector<std::string> cells_;
};

}  // namespace

bool is_table_csv(const fs::path& path) { return csv_header(path).has_value(); }

std::unique_ptr<Source> open_table_csv(const fs::path& file, const SourceOptions& options) {
  return std::make_unique<TableSource>(file, options);
}

}  // namespace convoke::data_prep
