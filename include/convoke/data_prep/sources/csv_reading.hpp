#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/core/csv.hpp"
#include "convoke/data_prep/assumption.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// The names of a CSV's columns: from the first row or, if it has none, column_1, column_2, ... A column
/// without a name is called by its position, too; repeated names are numbered: a, a.1, a.2 (as in pandas).
struct CsvHeader {
  std::vector<std::string> names;
  bool written = true;             ///< true if the first row has the names
  std::vector<bool> unnamed = {};  ///< of columns whose name is their position
};

/// How a CSV is read, and why.
struct CsvReading {
  std::filesystem::path file;
  CsvFormat format = {};
  CsvHeader header = {};
  std::vector<Assumption> assumptions = {};

  /// Returns a reader whose next row is the first below the header.
  CsvReader rows() const;

  /// Returns the options that read other files in the same way: the given ones, and whether there is a
  /// header.
  ReadingOptions options_for_prediction(ReadingOptions given) const;
};

/// The separator of a file with one column: a character that texts do not have.
inline constexpr char kOneColumn = '\x1f';

/// How much of a file is read to find its form.
enum class CsvExtent { kBeginning, kWhole };

/// Finds the form of a CSV, unless the options give it:
/// * the encoding, by all bytes (EncodingDetector);
/// * comments, lines at the beginning that start with #, but if there is no header and the rows have any of
///   , ; tab |, only those with fewer of them; a title without separators; and Excel's "sep=;";
/// * the separator (CsvFormat);
/// * in a file with tabs or of one column, the quoting: that of RFC 4180 if all cells follow it, no cell
/// spans
///   lines and holds the separator, and all rows have equally many cells; else only quotes around whole cells
///   count;
/// * the header, column by column: the first row is one if more of its cells differ in type from the cells
///   below, or do not recur there, than are like these.
/// Throws Error naming the file if it is empty, has bytes 0, or for an invalid option.
CsvReading examine_csv(const std::filesystem::path& file, const ReadingOptions& options,
                       CsvExtent extent = CsvExtent::kWhole);

/// Drops empty cells beyond the last column, which programs write that end each row with a separator.
void drop_empty_rest(CsvRow& row, std::size_t columns);

/// Returns the delimiter that ReadingOptions::separator names. Throws Error if it is not one character.
char delimiter_from(const std::string& separator);

/// Returns "tab", "blanks" or "\",\"".
std::string separator_name(char delimiter);

}  // namespace convoke::data_prep
