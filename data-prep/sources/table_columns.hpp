#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "convoke/data_prep/files/numbers.hpp"
#include "convoke/data_prep/sources/csv_catalog.hpp"
#include "convoke/data_prep/sources/csv_reading.hpp"

namespace convoke::data_prep {

/// A column of a table, as all its cells show it.
struct TableContents {
  NumberColumn numbers;
  NumberFormat format = {};
  bool ambiguous = false;  ///< nothing in the file tells thousands from decimals
  bool numeric = false;    ///< all cells, or nearly all, are numbers of this format
  std::int64_t rows = 0, missing = 0;
  std::map<std::string, std::int64_t> values = {};  ///< and their frequencies; at most kMostValues of them
  bool different = true;  ///< in a column without a name: the cells are different whole numbers
  bool counts = true;     ///< the cells are n, n + 1, n + 2, ...

  static constexpr std::size_t kMostValues = 1000;
  std::int64_t filled() const { return rows - missing; }
  bool numbers_rows(const CsvHeader& header, std::size_t column) const;
  ColumnContents contents(const CsvHeader& header, std::size_t column) const;
};

/// Reads all rows with as many cells as the header. The format of a column in which "4,000" may be 4 or 4000
/// follows the other columns, or else the separator; `decimal` ("point", "comma" or "") decides first. Adds
/// to `assumptions` how numbers are written, and which columns only look like numbers.
std::vector<TableContents> read_contents(const CsvReading& reading, const std::string& decimal);

/// Returns what the numbers of a column were taken for, if that is not plain; and a warning for a column of
/// categories that looks like numbers, dates or quantities.
std::vector<Assumption> about_column(const std::string& name, const TableContents& column);

}  // namespace convoke::data_prep
