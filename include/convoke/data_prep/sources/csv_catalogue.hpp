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

// CSVs of pictures, texts and features have this in common: a row is a sample, and columns give its label,
// split, group and weight.

namespace convoke::data_prep {

/// The names of a CSV's columns: from the first row or, if it has none (a cell is empty, a number, the file
/// of a picture, or a duplicate), column_1, column_2, ...
struct CsvHeader {
  std::vector<std::string> names;
  bool written = true;  ///< true if the first row has the names
};

/// Reads the first row; if it is not a header, the next read returns it again. Throws Error if there is none.
CsvHeader read_header(CsvReader& reader);

/// Returns the column called `given`; if that is empty, the first with a usual name (in lower case, in order
/// of preference; case and surrounding blanks do not count), or none. Throws Error, with the nearest name, if
/// the given column does not exist.
std::optional<std::size_t> find_column(const CsvHeader& header, const std::string& given,
                                       std::span<const std::string_view> usual,
                                       const std::filesystem::path& file);

/// Returns the header of a file that looks like a CSV (.csv or .tsv, with a first row of two cells or more);
/// else none.
std::optional<CsvHeader> csv_header(const std::filesystem::path& file);

/// The columns of a row's label, split, group and weight.
struct CsvRoles {
  std::size_t label = 0;
  std::optional<std::size_t> split = {};
  std::optional<std::size_t> group = {};
  std::optional<std::size_t> weight = {};
};

/// Finds the columns by the options, or by usual names: label, labels, class, sentiment, target, level,
/// diagnosis and others; split, set, "data set", ... Group and weight must be named. Without a label column
/// takes the last one if `last_is_label`; else throws Error.
CsvRoles find_roles(const CsvHeader& header, const ColumnOptions& options, bool last_is_label,
                    const std::filesystem::path& file);

/// The rows of a CSV as a catalogue, and their positions. Items are called "line 17".
struct CsvCatalogue {
  Catalogue catalogue;
  std::vector<CsvRow> rows = {};  ///< of each item; without cells
};

/// Lists all rows. A row has a fault if it has too few or too many cells, no label, or an invalid weight;
/// `examine` is called with the others and may find more faults. A split column that was not named and has
/// cells other than the usual names of splits is ignored. Throws as CsvReader and class_labels().
CsvCatalogue list_rows(const std::filesystem::path& file, const CsvRoles& roles, const ColumnOptions& options,
                       const std::vector<std::string>& class_names,
                       const std::function<void(const CsvRow& row, Item& item)>& examine);

}  // namespace convoke::data_prep
