#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/text_encoding.hpp"
#include "convoke/os/file.hpp"

namespace convoke {

/// A row of a CSV, and its position.
struct CsvRow {
  std::vector<std::string> cells = {};
  std::uint64_t line = 0;    ///< line of its first cell, from 1 on
  std::uint64_t offset = 0;  ///< bytes before it in the file
};

/// Which double quotes of a CSV belong to its form, and which to its text.
enum class Quoting : std::uint8_t {
  kCsv,  ///< RFC 4180: a cell that begins with a quote ends with one, and may hold anything between them
  kWholeCells,  ///< a pair around a whole cell belongs to the form, every other quote to the text
  kNone,        ///< all belong to the text
};

/// The form of a CSV. Without `delimiter`, it is the first of , ; tab | blank : that cuts the first rows into
/// equally many cells, at least two; or else that which cuts the first row into most, a blank only if half of
/// the other rows have as many or one more. Numbers with decimal commas do not count as two cells.
struct CsvFormat {
  char delimiter = '\0';
  Quoting quoting = Quoting::kCsv;
  TextEncoding encoding = TextEncoding::kUtf8;  ///< a byte order mark has precedence
  std::uint64_t skipped_lines = 0;              ///< at the beginning, such as comments
};

/// Reads a CSV row by row (RFC 4180). Cells are between delimiters; a cell that holds delimiters, line ends
/// or doubled quotes is in double quotes. Lines end in LF, CRLF or CR. Skips a byte order mark and empty
/// lines. A quote within an unquoted cell is an ordinary character. With the delimiter ' ', several blanks
/// and tabs are one delimiter, and those around a row are ignored. Cells are UTF-8 (to_utf8).
class CsvReader {
 public:
  /// Throws Error naming the file if it cannot be read.
  explicit CsvReader(const std::filesystem::path& file, const CsvFormat& format = {});
  CsvReader(const std::filesystem::path& file, char delimiter)
      : CsvReader(file, CsvFormat{.delimiter = delimiter}) {}

  const std::filesystem::path& file() const { return file_; }
  char delimiter() const { return delimiter_; }

  /// Reads the next row; false at the end. Rows may have different numbers of cells. Throws Error naming file
  /// and line if a quote is not closed, or if text follows a closing quote: the line where the cell begins.
  bool next(CsvRow& row);

  /// Makes a row that was read before (line and offset) the next row.
  void seek(const CsvRow& row);

  /// Returns "file:17", for messages.
  std::string at(const CsvRow& row) const;

 private:
  int peek();  // the next code unit: a byte or, in UTF-16, two; -1 at the end
  int take();
  void put(std::string& cell, int unit) const;
  std::string plain_cell();
  void go_to(std::uint64_t offset);
  std::string quoted_cell(const CsvRow& row);
  char find_delimiter();

  std::filesystem::path file_;
  os::File in_;  // none: the buffer holds all
  char delimiter_;
  Quoting quoting_;
  TextEncoding encoding_;
  std::size_t unit_bytes_ = 1;
  std::string buffer_;       // bytes of the file from start_ on
  std::size_t at_ = 0;       // position in buffer_
  std::uint64_t start_ = 0;  // position of buffer_ in the file
  std::uint64_t line_ = 1;
};

/// Returns the text as a cell of a written CSV: in double quotes if it holds a comma, a quote or a line end.
std::string csv_cell(const std::string& text);

/// Returns texts as the cells of a line, without its end.
std::string csv_line(std::span<const std::string> cells);

/// Returns the cell without blanks around it.
std::string trimmed(const std::string& cell);

/// Returns the cell with ASCII's capital letters in lower case.
std::string lower_case(std::string cell);

}  // namespace convoke
