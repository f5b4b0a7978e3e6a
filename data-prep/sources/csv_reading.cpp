#include "convoke/data_prep/sources/csv_reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <sstream>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/text_encoding.hpp"
#include "convoke/data_prep/files/numbers.hpp"
#include "convoke/os/file.hpp"
#include "sources/csv_header.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadBytes = 1U << 16;

constexpr std::array kQuotings{Named<Quoting>{"csv", Quoting::kCsv}, Named<Quoting>{"none", Quoting::kNone}};

constexpr std::array kYesNo{Named<bool>{"yes", true}, Named<bool>{"no", false}};

constexpr std::array kSeparators{Named<char>{"tab", '\t'},  Named<char>{"\\t", '\t'},
                                 Named<char>{"blank", ' '}, Named<char>{"blanks", ' '},
                                 Named<char>{"comma", ','}, Named<char>{"semicolon", ';'}};

/// The bytes of a file, or of its beginning.
struct Bytes {
  EncodingDetector detector;
  bool quotes = false;
  std::string beginning;
};

Bytes scan(const fs::path& file, CsvExtent extent) {
  Bytes bytes;
  const os::File in(file, os::Access::kRead);  // refuses pipes, which cannot be read twice
  std::string block(kReadBytes, '\0');
  std::uint64_t at = 0;
  do {
    const std::string_view part(block.data(), in.read_some_at(at, std::as_writable_bytes(std::span(block))));
    if (at == 0) bytes.beginning = part;
    bytes.detector.feed(part);
    bytes.quotes = bytes.quotes || part.find('"') != std::string_view::npos;
    at += part.size();
    if (part.empty()) break;
  } while (extent == CsvExtent::kWhole);
  return bytes;
}

std::string encoding_reason(const EncodingDetector& bytes, TextEncoding encoding) {
  if (bytes.marked()) return "by its byte order mark";
  if (encoding == TextEncoding::kWindows1252)
    return fmt::format("{} not UTF-8",
                       counted(bytes.invalid(), "byte") + (bytes.invalid() == 1 ? " is" : " are"));
  return bytes.invalid() == 0
             ? ""
             : fmt::format("but {} replaced, which are not", counted(bytes.invalid(), "byte"));
}

// Returns how many of these separators a line has, without those within quoted cells.
std::ptrdiff_t separators_in(const std::string& line, std::string_view separators) {
  std::ptrdiff_t count = 0;
  bool quoted = false, opens = true;  // a quote here
  for (const char c : line) {
    if (c == '"' && (quoted || opens)) {
      quoted = !quoted;
      opens = true;  // it may be doubled
    } else {
      opens = !quoted && separators.find(c) != std::string_view::npos;
      count += opens ? 1 : 0;
    }
  }
  return count;
}

// Returns the cells of a line without quotes.
std::vector<std::string> cells_of(const std::string& line, char delimiter) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; delimiter == ' ' ? bool(in >> cell) : bool(std::getline(in, cell, delimiter));)
    cells.push_back(cell);
  return cells;
}

/// Finds the parts of a CsvReading one after another.
class Examination {
 public:
  Examination(const fs::path& file, const ReadingOptions& options, CsvExtent extent)
      : options_(options),
        reading_{.file = file},
        whole_(extent == CsvExtent::kWhole),
        bytes_(scan(file, extent)) {}

  CsvReading run() {
    find_encoding();
    find_first_line();
    find_separator();
    find_quoting();
    find_header();
    return std::move(reading_);
  }

 private:
  void assume(Assumption assumption) { reading_.assumptions.push_back(std::move(assumption)); }

  void find_encoding() {
    const EncodingDetector& detector = bytes_.detector;
    TextEncoding& encoding = reading_.format.encoding;
    encoding = chosen_encoding(detector, options_.encoding);
    require_text(detector, encoding, reading_.file.string());
    assume({.what = "encoding",
            .taken = name_of(encoding),
            .why = options_.encoding.empty() ? encoding_reason(detector, encoding) : "as the option says",
            .option = "--encoding",
            .doubtful = options_.encoding.empty() && !detector.marked() &&
                        (encoding == TextEncoding::kWindows1252 || detector.invalid() > 0)});
  }

  // Skips comments, and a line that says which separator follows.
  void find_first_line() {
    std::string text =
        to_utf8(std::string_view(bytes_.beginning).substr(byte_order_mark(bytes_.beginning).bytes),
                reading_.format.encoding);
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size() && lines.size() < 1000;) {
      const std::size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
      lines.push_back(text.substr(begin, end - begin));
      begin = end + (text.compare(end, 2, "\r\n") == 0 ? 2 : 1);
    }
    if (lines.empty()) return;
    if (lines[0].size() == 5 && lines[0].starts_with("sep=")) {
      reading_.format.skipped_lines = 1;
      separator_line_ = lines[0][4];
      return;
    }
    if (const std::size_t title = title_lines(lines); title > 0) {
      reading_.format.skipped_lines = title;
      assume({.what = "title",
              .taken = fmt::format("{} at the beginning", counted(title, "line")),
              .why = "without the separators of the lines below",
              .doubtful = true});
      return;
    }
    std::size_t comments = 0;
    while (comments < lines.size() && lines[comments].starts_with('#')) ++comments;
    if (comments == 0 || comments == lines.size()) return;
    const auto separators = [](const std::string& line) { return separators_in(line, ",;\t|"); };
    const std::ptrdiff_t of_row = separators(lines[comments]);
    const bool no_header = options_.header == "no";
    if (no_header && of_row > 0) {  // then a line with the separators of the row below is a row
      const auto row = lines.begin() + static_cast<std::ptrdiff_t>(comments);
      comments = static_cast<std::size_t>(
          std::find_if(lines.begin(), row,
                       [&](const std::string& line) { return separators(line) >= of_row; }) -
          lines.begin());
      if (comments == 0) return;
    }
    // numpy.savetxt writes the header as a comment: it has the separators of the row below.
    hash_header_ =
        separators(lines[comments]) > 0 && separators(lines[comments]) == separators(lines[comments - 1]);
    reading_.format.skipped_lines = comments - (hash_header_ ? 1 : 0);
    if (reading_.format.skipped_lines == 0) return;
    if (no_header && of_row == 0) {
      comments_ = {lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(comments)};
      first_row_ = lines[comments];
    }
    assume({.what = "comments",
            .taken = fmt::format("{} at the beginning", counted(reading_.format.skipped_lines, "line")),
            .why = "they begin with #",
            .doubtful = separators(lines[0]) > 0 || (no_header && of_row == 0)});  // the latter may be rows
  }

  // Returns the number of lines above the table: one without separators, and those up to the first of five
  // lines that have the same number of at least two.
  std::size_t title_lines(const std::vector<std::string>& lines) const {
    constexpr std::size_t kMost = 5, kSame = 5;
    if (lines[0].empty() || lines[0].find_first_of(",;\t|\"#") != std::string::npos) return 0;
    if (options_.separator == std::string(1, kOneColumn)) return 0;
    const auto count = [&](std::size_t line, char c) { return separators_in(lines[line], {&c, 1}); };
    std::size_t title = 0;  // the fewest lines: commas of numbers may begin below the header
    for (const char separator : {',', ';', '\t', '|'}) {
      for (std::size_t first = 1; first <= kMost && first < lines.size(); ++first) {
        std::ptrdiff_t cells = count(first, separator);
        if (cells == 0) continue;
        bool equal = cells >= 2, blanks = count(0, ' ') > 0;  // numbers with commas, separated by blanks
        std::size_t same = 0;
        for (std::size_t line = first; line < lines.size() && same < kSame; ++line) {
          if (lines[line].empty()) continue;
          if (++same == 2 && count(line, separator) == cells + 1) ++cells;  // see complete()
          equal = equal && (same == 1 || count(line, separator) == cells);
          blanks = blanks && count(line, ' ') == count(0, ' ');
        }
        if (same == kSame && equal && !blanks && (title == 0 || first < title)) title = first;
        break;
      }
    }
    return title;
  }

  void find_separator() {
    char& delimiter = reading_.format.delimiter;
    if (!options_.separator.empty()) {
      delimiter = delimiter_from(options_.separator);
    } else if (separator_line_ != '\0') {
      delimiter = separator_line_;
    } else {
      delimiter = CsvReader(reading_.file, reading_.format).delimiter();
    }
    examine_comments(delimiter);
    assume({.what = "separator",
            .taken = separator_name(delimiter),
            .why = !options_.separator.empty() ? "as the option says"
                   : separator_line_ != '\0'   ? "as line 1 says"
                                               : "",
            .option = "--separator"});
  }

  // Comments above rows with another separator, such as blanks, may be rows only if they have as many cells,
  // and if the first column does not hold numbers.
  void examine_comments(char delimiter) {
    const std::vector<std::string> row = cells_of(first_row_, delimiter);
    if (row.size() < 2) return;
    reading_.assumptions.back().doubtful =
        !number_in(row[0]) && std::ranges::any_of(comments_, [&](const std::string& line) {
          return cells_of(line, delimiter).size() == row.size();
        });
  }

  void find_quoting() {
    Quoting& quoting = reading_.format.quoting;
    if (!options_.quoting.empty()) {
      quoting = find_in(kQuotings, options_.quoting, "quoting").value;
    } else if (bytes_.quotes && often_unquoted(reading_.format.delimiter) && !follows_rfc()) {
      quoting = Quoting::kWholeCells;
    }
    if (!bytes_.quotes) return;
    const std::string taken = quoting == Quoting::kCsv ? "csv, cells may be in double quotes"
                              : quoting == Quoting::kWholeCells
                                  ? "quotes are text unless they enclose a whole cell"
                                  : "none, quotes are text";
    assume({.what = "quoting",
            .taken = taken,
            .why = !options_.quoting.empty()         ? "as the option says"
                   : quoting == Quoting::kWholeCells ? "not all cells that begin with one end with one"
                                                     : "",
            .option = "--quoting"});
  }

  static bool often_unquoted(char delimiter) { return delimiter == '\t' || delimiter == kOneColumn; }

  // True if a file with such a delimiter can be RFC 4180.
  bool follows_rfc() const {
    try {
      CsvReader reader(reading_.file, reading_.format);
      CsvRow row;
      std::size_t columns = 0;
      for (std::size_t rows = 0; (whole_ || rows < kSampleRows) && reader.next(row); ++rows) {
        if (columns == 0) columns = row.cells.size();
        if (row.cells.size() != columns) return false;
        for (const std::string& cell : row.cells) {
          if (cell.find('\n') != std::string::npos &&
              cell.find(reading_.format.delimiter) != std::string::npos)
            return false;
        }
      }
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  void find_header() {
    CsvReader reader(reading_.file, reading_.format);
    CsvRow first;
    if (!reader.next(first)) throw Error(fmt::format("{}: is empty", reading_.file.string()));
    const std::size_t rows = std::clamp<std::size_t>(kSampleCells / first.cells.size(), 20, kSampleRows);
    std::vector<CsvRow> below;
    for (CsvRow row; below.size() < rows && next_if_whole(reader, row);) below.push_back(row);
    complete(first.cells, below);
    if (hash_header_ && options_.header != "no") {
      first.cells[0].erase(0, first.cells[0].find_first_not_of("# "));
      reading_.header = name_columns(first.cells, true);
      assume({.what = "header",
              .taken = fmt::format("line {}", first.line),
              .why = "it begins with #",
              .option = "--header"});
      return;
    }
    HeaderGuess guess;
    if (options_.header.empty()) {
      guess = guess_header(first.cells, below);
    } else {
      guess = {.header = find_in(kYesNo, options_.header, "value of --header").value,
               .why = "as the option says"};
    }
    reading_.header = name_columns(first.cells, guess.header);
    assume({.what = "header",
            .taken = guess.header ? fmt::format("line {}", first.line)
                                  : "none; the columns are column_1, column_2, ...",
            .why = guess.why,
            .option = "--header",
            .doubtful = guess.doubtful});
    name_repeated(first.cells);
  }

  // A damaged row further down is reported by those who read it.
  static bool next_if_whole(CsvReader& reader, CsvRow& row) {
    try {
      return reader.next(row);
    } catch (const Error&) {
      return false;
    }
  }

  // R names the columns but not the first, which names the rows; other programs end each row with a
  // separator.
  static void complete(std::vector<std::string>& first, const std::vector<CsvRow>& below) {
    const bool longer = !below.empty() && std::all_of(below.begin(), below.end(), [&](const CsvRow& row) {
      return row.cells.size() == first.size() + 1;
    });
    if (!longer) return;
    const bool trailing = std::all_of(below.begin(), below.end(),
                                      [](const CsvRow& row) { return trimmed(row.cells.back()).empty(); });
    first.insert(trailing ? first.end() : first.begin(), "");
  }

  void name_repeated(const std::vector<std::string>& first) {
    if (!reading_.header.written) return;
    std::vector<std::string> renamed;
    for (std::size_t c = 0; c < first.size(); ++c) {
      const std::string& name = reading_.header.names[c];
      if (!trimmed(first[c]).empty() && name != trimmed(first[c]))
        renamed.push_back(fmt::format("\"{}\"", name));
    }
    if (renamed.empty()) return;
    assume({.what = "repeated",
            .taken = fmt::format("{} called {}", counted(renamed.size(), "column"), listing(renamed, 10)),
            .why = "their names in the header occur before"});
  }

  static constexpr std::size_t kSampleRows = 1000, kSampleCells = 200'000;
  const ReadingOptions& options_;
  CsvReading reading_;
  bool whole_;
  Bytes bytes_;
  char separator_line_ = '\0';
  bool hash_header_ = false;
  std::vector<std::string> comments_;  // that may be rows; and the first line below
  std::string first_row_;
};

}  // namespace

CsvReader CsvReading::rows() const {
  CsvReader reader(file, format);
  CsvRow row;
  if (header.written) reader.next(row);
  return reader;
}

void drop_empty_rest(CsvRow& row, std::size_t columns) {
  while (row.cells.size() > columns && trimmed(row.cells.back()).empty()) row.cells.pop_back();
}

ReadingOptions CsvReading::options_for_prediction(ReadingOptions given) const {
  given.header = header.written ? "yes" : "no";
  return given;
}

CsvReading examine_csv(const fs::path& file, const ReadingOptions& options, CsvExtent extent) {
  if (fs::is_directory(file)) throw Error(fmt::format("{}: is a folder", file.string()));
  return Examination(file, options, extent).run();
}

char delimiter_from(const std::string& separator) {
  if (separator.size() == 1 && separator[0] != '"' && separator[0] != '\n' && separator[0] != '\r' &&
      static_cast<unsigned char>(separator[0]) < 0x80) {
    return separator[0];
  }
  const auto it = std::find_if(kSeparators.begin(), kSeparators.end(),
                               [&](const Named<char>& known) { return known.name == separator; });
  if (it != kSeparators.end()) return it->value;
  throw Error(fmt::format("the separator \"{}\" is not one character", separator),
              "write --separator ';', for example, or --separator tab");
}

std::string separator_name(char delimiter) {
  if (delimiter == '\t') return "tab";
  if (delimiter == ' ') return "blanks";
  return fmt::format("\"{}\"", delimiter);
}

}  // namespace convoke::data_prep
