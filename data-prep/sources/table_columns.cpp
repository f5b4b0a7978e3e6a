#include "sources/table_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/numbers.hpp"

namespace convoke::data_prep {
namespace {

constexpr std::array kDecimals{Named<char>{"point", '.'}, Named<char>{"comma", ','}};

// The names of columns that number rows.
constexpr std::array<std::string_view, 7> kIndexNames{"index", "id", "row", "no", "nr", "#", "row_id"};

/// Adds the cells of a column, and follows whether they number the rows.
class Reader {
 public:
  /// Only in a column without a name are numbers that do not count an index.
  explicit Reader(bool unnamed) : unnamed_(unnamed) {}

  void add(TableContents& column, const std::string& cell, std::uint64_t line) {
    follow(column, cell);
    ++column.rows;
    if (is_missing(cell)) {
      ++column.missing;
      return;
    }
    if (!is_missing_number(cell)) column.numbers.add(cell, line);
    if (column.values.size() < TableContents::kMostValues) {
      ++column.values[trimmed(cell)];
    } else if (const auto it = column.values.find(trimmed(cell)); it != column.values.end()) {
      ++it->second;
    }
  }

 private:
  void follow(TableContents& column, const std::string& cell) {
    column.different = column.different && unnamed_;
    if (!column.different && !column.counts) return;
    const std::optional<std::int64_t> number = parse_number<std::int64_t>(trimmed(cell));
    column.different = column.different && number && seen_.insert(*number).second;
    column.counts = column.counts && number && (column.rows == 0 || *number == before_ + 1);
    before_ = number.value_or(0);
    if (!column.different) seen_.clear();
  }

  bool unnamed_;
  std::set<std::int64_t> seen_;
  std::int64_t before_ = 0;
};

// Returns the decimal sign of the columns that can only have one; 0 if they have none or disagree.
char decimal_of(const std::vector<TableContents>& columns) {
  std::int64_t points = 0, commas = 0;
  for (const TableContents& column : columns) {
    const char decimal = column.numbers.decimal();
    points += decimal == '.' ? 1 : 0;
    commas += decimal == ',' ? 1 : 0;
  }
  return points == commas ? '\0' : points > commas ? '.' : ',';
}

}  // namespace

bool TableContents::numbers_rows(const CsvHeader& header, std::size_t column) const {
  constexpr std::int64_t kEnough = 3;
  if (rows < kEnough || missing > 0) return false;
  const std::string name = lower_case(header.names[column]);
  const bool called_index =
      name.ends_with("id") || std::find(kIndexNames.begin(), kIndexNames.end(), name) != kIndexNames.end();
  if (!header.written) return column == 0 && counts && rows >= 10;
  const auto first_named = std::find(header.unnamed.begin(), header.unnamed.end(), false);
  const bool leads = first_named - header.unnamed.begin() > static_cast<std::ptrdiff_t>(column);
  return header.unnamed[column] ? counts || (different && leads) : called_index && counts;
}

ColumnContents TableContents::contents(const CsvHeader& header, std::size_t column) const {
  const auto distinct = static_cast<std::int64_t>(values.size());
  return {.empty = filled() == 0,
          .index = numbers_rows(header, column),
          .numeric = numeric,
          .classes = distinct <= 20 || 2 * distinct <= filled()};
}

std::vector<TableContents> read_contents(const CsvReading& reading, const std::string& decimal) {
  const std::size_t width = reading.header.names.size();
  std::vector<TableContents> columns(width);
  std::vector<Reader> readers;
  for (std::size_t c = 0; c < width; ++c)
    readers.emplace_back(reading.header.written && reading.header.unnamed[c]);
  CsvReader reader = reading.rows();
  for (CsvRow row; reader.next(row);) {
    if (row.cells.size() < width) continue;
    for (std::size_t c = 0; c < width; ++c) readers[c].add(columns[c], row.cells[c], row.line);
  }
  const char found =
      decimal.empty() ? decimal_of(columns) : find_in(kDecimals, decimal, "value of --decimal").value;
  const char usual = reading.format.delimiter == ';' ? ',' : '.';
  for (TableContents& column : columns) {
    column.format = column.numbers.format(found == '\0' ? usual : found);
    column.ambiguous = found == '\0' && column.numbers.ambiguous();
    column.numeric = column.numbers.is_numeric(column.format);
  }
  return columns;
}

std::vector<Assumption> about_column(const std::string& name, const TableContents& column) {
  std::vector<Assumption> found;
  const std::string taken = fmt::format("column \"{}\"", name);
  if (column.numeric) {
    const std::string form = to_text(column.format);
    const auto not_plain = [&](const auto& value) {
      const std::optional<double> number = column.format.read(value.first);
      return number && number != number_in(value.first);
    };
    const auto example = std::find_if(column.values.begin(), column.values.end(), not_plain);
    if (form.empty() || example == column.values.end()) return found;
    found.push_back(
        {.what = "numbers",
         .taken = fmt::format("{}: {}; \"{}\" is {}", taken, form, example->first,
                              *column.format.read(example->first)),
         .why = column.ambiguous ? "nothing else in the file has a decimal sign" : "",
         .option = column.format.decimal == ',' || column.format.thousands != 0 ? "--decimal" : "",
         .doubtful = column.ambiguous});
    return found;
  }
  const std::int64_t numbers = column.numbers.read(column.format);
  if (numbers > 0 && numbers == column.numbers.cells()) return found;  // the options say so
  const auto digits = [](const auto& value) {
    const std::size_t first = value.first.find_first_not_of("+-$.( ");
    return first != std::string::npos && value.first[first] >= '0' && value.first[first] <= '9';
  };
  const auto like = std::count_if(column.values.begin(), column.values.end(), digits);
  if (column.filled() == 0 || (2 * like < std::ssize(column.values) && numbers == 0)) return found;
  const NumberColumn::Cell& cell = column.numbers.first_unread(column.format);
  found.push_back({.what = "categories",
                   .taken = fmt::format("{}: {} of {} cells are numbers, but \"{}\" in line {} is not", taken,
                                        format_count(numbers), format_count(column.numbers.cells()),
                                        shortened(cell.text, 40), cell.line),
                   .why = "each value becomes a feature of its own",
                   .option = "--features leaves it out",
                   .doubtful = true});
  return found;
}

}  // namespace convoke::data_prep
