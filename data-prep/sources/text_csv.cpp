#include "convoke/data_prep/sources/text_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/sources/text_source.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 9> kTextColumns{"text",    "review",  "sentence", "tweet", "content",
                                                       "comment", "message", "document", "phrase"};

}  // namespace

std::optional<std::size_t> find_text_column(const CsvHeader& header, const std::string& given,
                                            const fs::path& file) {
  return find_column(header, given, kTextColumns, file);
}

bool is_text_csv(const fs::path& path) {
  const std::optional<CsvReading> reading = csv_beginning(path);
  return reading && find_text_column(reading->header, "", path);
}

bool is_text_column(const std::string& name) {
  return std::find(kTextColumns.begin(), kTextColumns.end(), lower_case(name)) != kTextColumns.end();
}

std::unique_ptr<Source> open_text_csv(const fs::path& file, const SourceOptions& options) {
  const CsvReading reading = examine_csv(file, options.reading);
  const CsvHeader& header = reading.header;
  const std::optional<std::size_t> text = find_text_column(header, options.columns.text, file);
  if (!text) {
    throw Error(fmt::format("{}: has no column of texts", file.string()),
                "choose one with --text-column; columns: " + join(header.names));
  }
  const CsvRoles roles = find_roles(reading, options.columns);
  CsvCatalogue list = list_rows(reading, roles, options, [&](const CsvRow& row, Item& item) {
    if (trimmed(row.cells[*text]).empty()) item.fault = "has no text";
  });
  std::vector<Assumption>& assumptions = list.catalogue.assumptions;
  if (options.columns.text.empty()) {
    assumptions.push_back({.what = "texts",
                           .taken = fmt::format("column \"{}\"", header.names[*text]),
                           .why = "by its name",
                           .option = "--text-column"});
  }
  std::vector<std::string> unused;
  for (std::size_t c = 0; c < header.names.size(); ++c) {
    if (c != *text && !roles.uses(c)) unused.push_back(fmt::format("\"{}\"", header.names[c]));
  }
  if (!unused.empty()) assumptions.push_back({.what = "not used", .taken = join(unused)});
  list.catalogue.provenance = fmt::format("column {} of {}", header.names[*text], file.string());
  const auto reader = std::make_shared<CsvReader>(reading.rows());
  return make_text_source(
      std::move(list.catalogue), options.text, reading.options_for_prediction(options.reading),
      header.names[*text],
      [reader, rows = std::move(list.rows), column = *text, row = CsvRow{}](std::size_t item) mutable {
        reader->seek(rows[item]);
        reader->next(row);
        return std::move(row.cells.at(column));
      });
}

}  // namespace convoke::data_prep
