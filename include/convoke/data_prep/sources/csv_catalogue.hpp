#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/csv.hpp"
#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

// What CSVs of pictures, texts and features have in common: a row is a sample, and columns say its label,
// split, group and weight.

namespace convoke::data_prep {

/// The names of a CSV's columns. Where the first row has none (a cell is empty, a number, a
/// picture's file, or there twice), column_1, column_2, ...
struct CsvHeader {
  std::vector<std::string> names;
  bool written = true;  ///< the first row has them
};

/// Reads the first row; if it is no header, it will be the next row again. Throws Error if there is none.
CsvHeader read_header(CsvReader& reader);

/// The column called `given`; if that is empty, the first that bears a usual name (in lower case, in order of
/// preference; case and blanks around it do not count), or none. Throws Error, with the nearest name, if the
/// given one is not there.
std::optional<std::size_t> find_column(const CsvHeader& header, const std::string& given,
                                       std::span<const std::string_view> usual,
                                       const std::filesystem::path& file);

/// The header of a file that looks like a CSV (.csv or .tsv, with a first row of two cells or more); none of
/// anything else.
std::optional<CsvHeader> csv_header(const std::filesystem::path& file);

/// Where labels, split, group and weight of a row are.
struct CsvRoles {
  std::size_t label = 0;
  std::optional<std::size_t> split = {};
  std::optional<std::size_t> group = {};
  std::optional<std::size_t> weight = {};
};

/// By the options, or by usual names: label, labels, class, sentiment, target, level, diagnosis and others;
/// split, set, "data set", ... Group and weight must be named. Without a label column the last one, if
/// `last_is_label`; else Error.
CsvRoles find_roles(const CsvHeader& header, const ColumnOptions& options, bool last_is_label,
                    const std::filesystem::path& file);

/// The rows of a CSV as a catalogue, and where they are. Items are called "line 17".
struct CsvCatalogue {
  Catalogue catalogue;
  std::vector<CsvRow> rows = {};  ///< of each item; without cells
};

/// Lists all rows. Those with too few or too many cells, without a label or with an impossible weight have a
/// fault; `examine` is called with the others and may find more. A split column that was not named and has
/// cells other than the usual names of splits is none. Throws as CsvReader and class_labels().
CsvCatalogue list_rows(const std::filesystem::path& file, const CsvRoles& roles, const ColumnOptions& options,
                       const std::vector<std::string>& class_names,
                       const std::function<void(const CsvRow& row, Item& item)>& examine);

}  // namespace convoke::data_prep
