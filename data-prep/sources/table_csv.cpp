#include "convoke/data_prep/sources/source_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/numbers.hpp"
#include "convoke/data_prep/preparation.hpp"
#include "convoke/data_prep/sources/csv_catalog.hpp"
#include "convoke/data_prep/table/table_preparation.hpp"
#include "sources/table_columns.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

class TableSource final : public Source {
 public:
  TableSource(const fs::path& file, const SourceOptions& options)
      : options_(options.table),
        reading_(examine_csv(file, options.reading)),
        contents_(read_contents(reading_, options.reading.decimal)),
        reader_(reading_.rows()) {
    TablePreparation::check(options_);
    choose_categories(options.columns);
    std::vector<ColumnContents> contents;
    for (std::size_t c = 0; c < contents_.size(); ++c)
      contents.push_back(contents_[c].contents(reading_.header, c));
    const CsvRoles roles = find_roles(reading_, options.columns, contents);
    find_features(options.columns, roles);
    CsvCatalog list =
        list_rows(reading_, roles, options, [&](const CsvRow& row, Item& item) { examine(row, item); });
    catalog_ = std::move(list.catalog);
    rows_ = std::move(list.rows);
    keep_features(options.columns, roles);
    catalog_.provenance = fmt::format("rows of {}", file.string());
    stored_ = reading_.options_for_prediction(options.reading);
    listed_notes_ = catalog_.notes.size();
    listed_assumptions_ = catalog_.assumptions.size();
  }

  void fit(std::span<const std::size_t> training) override {
    catalog_.notes.resize(listed_notes_);
    catalog_.assumptions.resize(listed_assumptions_);
    std::vector<RawColumn> columns;
    for (const std::size_t c : features_)
      columns.push_back({name(c), contents_[c].numeric, contents_[c].format});
    auto next = training.begin();
    preparation_ = TablePreparation::fit(options_, columns, [&](std::vector<std::string>& cells) {
      if (next == training.end()) return false;
      read_cells(*next++);
      cells = cells_;
      return true;
    });
    describe_features();
    for (const TableColumn& column : preparation_->columns()) {
      if (column.constant) {
        catalog_.notes.push_back(fmt::format("column \"{}\" is the same in all training rows", column.name));
      }
    }
  }

  SampleFormat format() const override {
    ensure(preparation_.has_value(), "the source was fitted");
    return {.shape = Shape{static_cast<std::int64_t>(preparation_->width())},
            .type = data::SampleType::kFloat32,
            .preparation = with_reading(preparation_->to_json(), stored_)};
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
  const std::string& name(std::size_t column) const { return reading_.header.names[column]; }

  // The numbers of these columns name categories.
  void choose_categories(const ColumnOptions& columns) {
    for (const std::string& category : columns.categories)
      contents_[*find_column(reading_.header, category, {}, reading_.file)].numeric = false;
  }

  // Takes the named columns in their order, or all columns without another use that have contents.
  void find_features(const ColumnOptions& columns, const CsvRoles& roles) {
    for (const std::string& feature : columns.features) {
      const std::size_t column = *find_column(reading_.header, feature, {}, reading_.file);
      if (column == roles.label) {
        throw Error(
            fmt::format("{}: column \"{}\" is both label and feature", reading_.file.string(), feature));
      }
      features_.push_back(column);
    }
    if (!columns.features.empty()) return;
    for (std::size_t c = 0; c < contents_.size(); ++c) {
      const bool used = c == roles.label || c == roles.group || c == roles.weight ||
                        (c == roles.split && !columns.split.empty());
      if (used) continue;
      if (contents_[c].numbers_rows(reading_.header, c)) {
        dropped_.push_back(fmt::format("\"{}\", which numbers the rows", name(c)));
      } else if (contents_[c].filled() == 0) {
        dropped_.push_back(fmt::format("\"{}\", which is empty", name(c)));
      } else {
        features_.push_back(c);
      }
    }
  }

  void examine(const CsvRow& row, Item& item) {
    for (const std::size_t c : features_) {
      const std::string& cell = row.cells[c];
      if (!contents_[c].numeric || is_missing_number(cell)) continue;
      const std::optional<double> number = contents_[c].format.read(cell);
      if (number && std::isfinite(*number)) continue;
      item.fault = fmt::format("column \"{}\": \"{}\" is not a {}number", name(c), shortened(cell, 60),
                               number ? "finite " : "");
      return;
    }
  }

  // A column whose name suggests splits may hold something else; it is a feature then.
  void keep_features(const ColumnOptions& columns, const CsvRoles& roles) {
    const bool splits = std::any_of(catalog_.items.begin(), catalog_.items.end(),
                                    [](const Item& item) { return !item.split.empty(); });
    if (columns.features.empty() && splits)
      std::erase_if(features_, [&](std::size_t feature) { return feature == roles.split; });
    if (features_.empty()) {
      throw Error(fmt::format("{}: there is no column left for features", reading_.file.string()),
                  "columns: " + listing(reading_.header.names));
    }
    assume("dropped", dropped_);
    for (const std::size_t c : features_) {
      for (Assumption& doubt : about_column(name(c), contents_[c]))
        catalog_.assumptions.push_back(std::move(doubt));
    }
    std::vector<std::string> missing;
    for (const std::size_t c : features_) {
      const TableContents& column = contents_[c];
      const std::int64_t count = column.rows - (column.numeric ? column.numbers.cells() : column.filled());
      if (count > 0) missing.push_back(fmt::format("{} in \"{}\"", format_count(count), name(c)));
    }
    if (!missing.empty()) {
      catalog_.notes.push_back(
          "missing cells: " + listing(missing) +
          "; they are replaced by the mean or the most frequent category of the training rows");
    }
  }

  void assume(const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    catalog_.assumptions.push_back({.what = what, .taken = listing(names), .option = "--features"});
  }

  // Says which columns are features of which kind.
  void describe_features() {
    std::vector<std::string> numbers, categories;
    for (const TableColumn& column : preparation_->columns()) {
      if (column.numeric()) {
        numbers.push_back(column.name);
      } else {
        categories.push_back(fmt::format("\"{}\" ({})", column.name, counted(column.width(), "value")));
      }
    }
    assume("features", numbers);
    assume("one-hot", categories);
  }

  // Reads the features' cells of a row.
  void read_cells(std::size_t item) {
    row_ = read_again(reader_, rows_[item], contents_.size());
    cells_.clear();
    for (const std::size_t c : features_) cells_.push_back(row_.cells[c]);
  }

  TableOptions options_;
  CsvReading reading_;
  std::vector<TableContents> contents_;  // of all columns
  CsvReader reader_;
  ReadingOptions stored_;
  std::vector<CsvRow> rows_;           // of items
  std::vector<std::size_t> features_;  // columns
  std::vector<std::string> dropped_;
  std::size_t listed_notes_ = 0, listed_assumptions_ = 0;  // without those of fit()
  std::optional<TablePreparation> preparation_;            // after fit()
  CsvRow row_;                                             // of read_cells()
  std::vector<std::string> cells_;
};

}  // namespace

bool is_table_csv(const fs::path& path, const ReadingOptions& options) {
  return csv_beginning(path, options).has_value();
}

std::unique_ptr<Source> open_table_csv(const fs::path& file, const SourceOptions& options) {
  return std::make_unique<TableSource>(file, options);
}

}  // namespace convoke::data_prep
