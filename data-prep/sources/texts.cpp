#include "convoke/data_prep/sources/source_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/text_encoding.hpp"
#include "convoke/data_prep/files/names.hpp"
#include "convoke/data_prep/preparation.hpp"
#include "convoke/data_prep/text/text_preparation.hpp"
#include "convoke/os/file.hpp"
#include "sources/class_files.hpp"
#include "sources/labels.hpp"
#include "sources/table_columns.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

/// Texts from anywhere. fit() learns the vocabulary (TextPreparation); samples are tokens (L).
class TextSource final : public Source {
 public:
  /// `read_text` returns the text of an item; for speed it is called in ascending order. `column`: of the CSV
  /// that the texts come from, else empty. `reading`: how predict has to read files of texts. Throws Error
  /// for invalid options.
  TextSource(Catalog catalog, const TextOptions& options, const ReadingOptions& reading, std::string column,
             std::function<std::string(std::size_t)> read_text)
      : options_(options), reading_(reading), column_(std::move(column)), read_text_(std::move(read_text)) {
    catalog_ = std::move(catalog);
    TextPreparation::check(options_);
  }

  void fit(std::span<const std::size_t> training) override {
    auto next = training.begin();
    bool found = false;  // a text that can be read
    preparation_ = TextPreparation::fit(options_, column_, [&](std::string& text) {
      while (next != training.end()) {
        try {
          text = read_text_(*next++);
          return found = true;
        } catch (const Error&) {  // read() throws it, too, so the text is listed as bad
          if (!found && next == training.end()) throw;
        }
      }
      return false;
    });
  }

  SampleFormat format() const override {
    ensure(preparation_.has_value(), "the source was fitted");
    return {.shape = Shape{preparation_->length()},
            .type = data::SampleType::kInt32,
            .vocabulary = preparation_->vocabulary().size(),
            .preparation = with_reading(preparation_->to_json(), reading_)};
  }

  Original read(std::size_t item, std::span<std::byte> sample) override {
    ensure(preparation_.has_value(), "the source was fitted");
    const std::string text = read_text_(item);
    const std::span tokens(reinterpret_cast<std::int32_t*>(sample.data()),
                           sample.size() / sizeof(std::int32_t));
    return {.height = static_cast<std::int32_t>(preparation_->encode(text, tokens)), .bytes = text.size()};
  }

 private:
  TextOptions options_;
  ReadingOptions reading_;
  std::string column_;
  std::function<std::string(std::size_t)> read_text_;
  std::optional<TextPreparation> preparation_;  // after fit()
};

bool is_text(const fs::path& file) {
  return lower_case(file.extension().string()) == ".txt" && !is_hidden(file) && !fs::is_directory(file);
}

// True for a folder with texts. `unsup`, in aclImdb, has texts without labels.
bool holds_texts(const fs::path& folder) {
  std::error_code ignored;
  return folder.filename() != "unsup" &&
         std::any_of(fs::directory_iterator(folder, ignored), fs::directory_iterator(),
                     [](const fs::directory_entry& entry) { return is_text(entry.path()); });
}

std::string text_of(const fs::path& file, const std::string& encoding) {
  if (!fs::exists(file)) throw Error(fmt::format("{}: cannot be read", file.string()));
  return decoded_file(os::File(file, os::Access::kRead).text(), encoding, file.string());
}

// Returns why a file cannot be a sample; empty if it can.
std::string fault_of(const fs::path& file) {
  if (const std::string special = os::special_kind(file); !special.empty())
    return fmt::format("is {}, not a file", special);
  std::error_code missing;
  return fs::file_size(file, missing) == 0 ? "has no text" : "";
}

// Says how the texts are encoded, by a part of them.
Assumption assumed_encoding(const std::vector<ClassFile>& files, const std::string& given) {
  constexpr std::size_t kLookedAt = 500;
  if (!given.empty()) return {"encoding", given, "as the option says", "--encoding"};
  std::map<std::string, std::size_t> counts;
  const std::size_t step = std::max<std::size_t>(1, files.size() / kLookedAt);
  std::size_t read = 0;
  for (std::size_t i = 0; i < files.size(); i += step, ++read) {
    EncodingDetector detector;
    if (!os::special_kind(files[i].file).empty()) continue;
    detector.feed(read_text(files[i].file).value_or(""));
    ++counts[name_of(detector.encoding())];
  }
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts)
    parts.push_back(counts.size() == 1 ? name : fmt::format("{} in {}", name, counted(count, "file")));
  return {.what = "encoding",
          .taken = join(parts),
          .why = fmt::format("of each file by its bytes; {} looked at", counted(read, "file")),
          .option = "--encoding",
          .doubtful = counts.count(name_of(TextEncoding::kWindows1252)) > 0};
}

}  // namespace

bool is_text_folder(const fs::path& path) { return has_class_files(path, holds_texts); }

std::unique_ptr<Source> open_text_folder(const fs::path& folder, const SourceOptions& options) {
  ClassFiles list =
      list_class_files(folder, holds_texts, is_text, "texts",
                       "a dataset needs at least 2 classes, each a folder of .txt files: pos/, neg/");
  Catalog catalog;
  for (const ClassFile& file : list.files) {
    catalog.items.push_back(
        {.name = file.name, .split = file.split, .label = file.label, .fault = fault_of(file.file)});
  }
  for (const SplitFolder& split : list.splits) {
    if (const fs::path unlabeled = split.folder / "unsup"; fs::is_directory(unlabeled)) {
      catalog.notes.push_back(fmt::format("{} is left out: its texts have no labels", unlabeled.string()));
    }
  }
  catalog.classes = static_cast<std::int64_t>(list.class_names.size());
  catalog.class_names = list.class_names;
  rename_classes(catalog, options.class_names, folder.string());
  catalog.assumptions.push_back(assumed_encoding(list.files, options.reading.encoding));
  catalog.provenance = fmt::format("text files of {}", folder.string());
  return std::make_unique<TextSource>(std::move(catalog), options.text, options.reading, "",
                                      [files = std::move(list.files), encoding = options.reading.encoding](
                                          std::size_t item) { return text_of(files[item].file, encoding); });
}

namespace {

// True for cells with letters: the blanks of numbers separate thousands.
bool has_letters(const std::string& cell) {
  return std::ranges::any_of(cell, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
  });
}

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
      const std::string cell = trimmed(row.cells[c]);
      values[c].insert(cell);
      if (has_letters(cell)) blanks[c] += static_cast<std::size_t>(std::ranges::count(cell, ' '));
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
  const auto named = find_column(reading.header, "", kTextColumns, reading.file);
  return named ? named : column_like_texts(reading);
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
                                              : find_column(header, options.columns.text, {}, file);
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
  return std::make_unique<TextSource>(
      std::move(list.catalog), options.text, reading.options_for_prediction(options.reading),
      header.names[*text], [reader, rows = std::move(list.rows), column = *text](std::size_t item) {
        return std::move(read_again(*reader, rows[item], column + 1).cells[column]);
      });
}

}  // namespace convoke::data_prep
