#include "convoke/data_prep/sources/text_csv.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/number.hpp"
#include "convoke/data_prep/sources/text_source.hpp"
#include "convoke/data_prep/text/words.hpp"

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
  const std::optional<CsvHeader> header = csv_header(path);
  return header && find_text_column(*header, "", path);
}

std::unique_ptr<Source> open_text_csv(const fs::path& file, const SourceOptions& options) {
  const auto reader = std::make_shared<CsvReader>(file);
  const CsvHeader header = read_header(*reader);
  const std::optional<std::size_t> text = find_text_column(header, options.columns.text, file);
  if (!text) {
    throw Error(fmt::format("{}: has no column of texts", file.string()),
                "choose one with --text-column; columns: " + join(header.names));
  }
  const CsvRoles roles = find_roles(header, options.columns, false, file);
  std::int64_t damaged = 0;
  CsvCatalogue list =
      list_rows(file, roles, options.columns, options.class_names, [&](const CsvRow& row, Item& item) {
        const std::string& cell = row.cells[*text];
        if (trimmed(cell).empty()) {
          item.fault = "has no text";
        } else if (!is_utf8(cell)) {
          ++damaged;
        }
      });
  if (damaged > 0) {
    list.catalogue.notes.push_back(fmt::format(
        "{} texts hold bytes that are not valid UTF-8; these bytes are left out", format_count(damaged)));
  }
  list.catalogue.provenance = fmt::format("column {} of {}", header.names[*text], file.string());
  return make_text_source(std::move(list.catalogue), options.text, header.names[*text],
                          [reader, rows = std::move(list.rows), column = *text](std::size_t item) {
                            CsvRow row;
                            reader->seek(rows[item]);
                            reader->next(row);
                            return std::move(row.cells.at(column));
                          });
}

}  // namespace convoke::data_prep
