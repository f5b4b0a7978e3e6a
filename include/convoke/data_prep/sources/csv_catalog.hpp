#pragma once
#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/csv.hpp"
#include "convoke/data_prep/sources/csv_reading.hpp"
#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

// CSVs of pictures, texts and features have this in common: a row is a sample, and columns give its label,
// split, group and weight.

namespace convoke::data_prep {

/// The usual names of columns of picture paths and of texts, in order of preference.
inline constexpr std::array<std::string_view, 14> kPathColumns{
    "filepaths",  "filepath", "file_path",  "path",     "filename", "file_name", "file",
    "image_path", "image",    "image_name", "image_id", "id_code",  "img",       "images"};
inline constexpr std::array<std::string_view, 9> kTextColumns{
    "text", "review", "sentence", "tweet", "content", "comment", "message", "document", "phrase"};

/// Returns the column of this name. Throws Error, with the nearest name, if there is none.
std::size_t column_called(const CsvHeader& header, const std::string& name,
                          const std::filesystem::path& file);

/// Returns the column called `given`, or else at this position (1, 2, ...); if that is empty, the first with
/// a usual name (in lower case, in order of preference; case and surrounding blanks do not count), or none.
/// Throws Error, with the nearest name, if the given column does not exist.
std::optional<std::size_t> find_column(const CsvHeader& header, const std::string& given,
                                       std::span<const std::string_view> usual,
                                       const std::filesystem::path& file);

/// Returns how a file is read that looks like a CSV (.csv or .tsv, with a first row of two cells or more), by
/// its beginning; else none, also if `options` do not fit it.
std::optional<CsvReading> csv_beginning(const std::filesystem::path& file,
                                        const ReadingOptions& options = {});

/// The columns of a row's label, split, group and weight.
struct CsvRoles {
  std::size_t label = 0;
  std::optional<std::size_t> split = {};
  std::optional<std::size_t> group = {};
  std::optional<std::size_t> weight = {};
  std::vector<Assumption> assumptions = {};  ///< about the label

  bool uses(std::size_t column) const;
};

/// Properties of a column's cells, as find_roles() needs them.
struct ColumnContents {
  bool empty = false;  ///< no cell has a value
  bool index = false;  ///< numbers the rows
  bool numeric = false;
  bool classes = true;  ///< its values repeat enough to be classes
};

/// Finds the columns by the options, or by usual names: label, labels, class, sentiment, target, diagnosis,
/// species and others; split, set, "data set", ... Group and weight must be named. Names that are as usual
/// for a feature (level, grade, y, stars) count only if there is no better one; in a table, with `contents`
/// of its columns, only for the first or last column, and y not beside x. A table without such a name has its
/// label in the last column with values; or in the first, if only that can be classes, or if it holds
/// categories and all others numbers. Without `contents`, throws Error if no name is found.
CsvRoles find_roles(const CsvReading& reading, const ColumnOptions& options,
                    std::span<const ColumnContents> contents = {});

/// The rows of a CSV as a catalog, and their positions. Items are called "line 17".
struct CsvCatalog {
  Catalog catalog;
  std::vector<CsvRow> rows = {};  ///< of each item; without cells
};

/// Lists all rows. A row has a fault if it has too few or too many cells, no label, or an invalid weight
/// (whose number is written as in a table); `examine` is called with the others and may find more faults.
/// Empty cells beyond the last column do not count. A split column that was not named counts if the rows
/// without a fault have usual names of splits only, or both train and test: then other names are splits, too.
/// Throws as CsvReader and class_labels(), if no row can be used, and if a quoted cell holds several lines
/// that look like rows of their own, unless --quoting was given.
CsvCatalog list_rows(const CsvReading& reading, const CsvRoles& roles, const SourceOptions& options,
                     const std::function<void(const CsvRow& row, Item& item)>& examine);

/// Reads again a row that list_rows() listed. Throws Error if it does not have so many cells any more.
CsvRow read_again(CsvReader& reader, const CsvRow& listed, std::size_t columns);

}  // namespace convoke::data_prep
