#include "convoke/data_prep/sources/text_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/sources/text_source.hpp"
#include "sources/table_columns.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

// Returns the column of texts of a CSV without a header: the only one whose cells mostly differ and have
// three words or more, on average.
std::optional<std::size_t> column_like_texts(const CsvReading& reading) {
  constexpr std::size_t kRows = 200, kFewest = 5, kMostColumns = 4;
  const std::size_t width = reading.header.names.size();
  if (reading.header.written || width > kMostColumns) return {};
  std::vector<std::set<std::string>> values(width);
  std::vector<std::size_t> blanks(width);
  CsvReader reader = reading.rows();
  std::size_t rows = 0;
  for (CsvRow row; rows < kRows && reader.next(row);) {
    if (row.cells.size() != width) continue;
    ++rows;
    for (std::size_t c = 0; c < width; ++c) {
      values[c].insert(row.cells[c]);
      blanks[c] += static_cast<std::size_t>(std::count(row.cells[c].begin(), row.cells[c].end(), ' '));
    }
  }
  std::vector<std::size_t> texts;
  for (std::size_t c = 0; c < width; ++c) {
    if (rows >= kFewest && 2 * values[c].size() > rows && blanks[c] >= 2 * rows) texts.push_back(c);
  }
  return texts.size() == 1 ? std::optional(texts.front()) : std::nullopt;
}

// Without a header, the labels are where they are in a table without the texts.
CsvRoles roles_around(std::size_t text, const CsvReading& reading, const SourceOptions& options) {
  if (reading.header.written) return find_roles(reading, options.columns);
  std::vector<ColumnContents> contents;
  const std::vector<TableContents> columns = read_contents(reading, options.reading.decimal);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    contents.push_back(columns[c].contents(reading.header, c));
    contents.back().empty = contents.back().empty || c == text;
  }
  return find_roles(reading, options.columns, contents);
}

}  // namespace

std::optional<std::size_t> find_text_column(const CsvReading& reading) {
  const auto named = find_text_column(reading.header, "", reading.file);
  return named ? named : column_like_texts(reading);
}

std::optional<std::size_t> find_text_column(const CsvHeader& header, const std::string& given,
                                            const fs::path& file) {
  return find_column(header, given, kTextColumns, file);
}

bool is_text_csv(const fs::path& path, const ReadingOptions& options) {
  const std::optional<CsvReading> reading = csv_beginning(path, options);
  return reading && find_text_column(*reading);
}

std::unique_ptr<Source> open_text_csv(const fs::path& file, const SourceOptions& options) {
  const CsvReading reading = examine_csv(file, options.reading);
  const CsvHeader& header = reading.header;
  const std::optional<std::size_t> text = options.columns.text.empty()
                                              ? find_text_column(reading)
                                              : find_text_column(header, options.columns.text, file);
  if (!text) {
    throw Error(fmt::format("{}: has no column of texts", file.string()),
                "choose one with --text-column; columns: " + listing(header.names));
  }
  const CsvRoles roles = roles_around(*text, reading, options);
  CsvCatalog list = list_rows(reading, roles, options, [&](const CsvRow& row, Item& item) {
    if (trimmed(row.cells[*text]).empty()) item.fault = "has no text";
  });
  std::vector<Assumption>& assumptions = list.catalog.assumptions;
  if (options.columns.text.empty()) {
    assumptions.push_back({.what = "texts",
                           .taken = fmt::format("column \"{}\"", header.names[*text]),
                           .why = header.written ? "by its name" : "its cells have several words",
                           .option = "--text-column"});
  }
  CsvRoles used = roles;
  const std::vector<Item>& items = list.catalog.items;
  if (std::ranges::all_of(items, [](const Item& item) { return item.split.empty(); })) used.split.reset();
  std::vector<std::string> unused;
  for (std::size_t c = 0; c < header.names.size(); ++c) {
    if (c != *text && !used.uses(c)) unused.push_back(fmt::format("\"{}\"", header.names[c]));
  }
  if (!unused.empty()) assumptions.push_back({.what = "not used", .taken = listing(unused)});
  list.catalog.provenance = fmt::format("column {} of {}", header.names[*text], file.string());
  const auto reader = std::make_shared<CsvReader>(reading.rows());
  return make_text_source(
      std::move(list.catalog), options.text, reading.options_for_prediction(options.reading),
      header.names[*text],
      [reader, rows = std::move(list.rows), column = *text, row = CsvRow{}](std::size_t item) mutable {
        reader->seek(rows[item]);
        reader->next(row);
        return std::move(row.cells.at(column));
      });
}

}  // namespace convoke::data_prep
