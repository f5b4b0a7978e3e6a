#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace convoke {

/// A row of a CSV, and where it is.
struct CsvRow {
  std::vector<std::string> cells = {};
  std::uint64_t line = 0;    ///< where it begins, from 1 on
  std::uint64_t offset = 0;  ///< bytes before it
};

/// Reads a CSV row by row (RFC 4180): cells between delimiters, in double quotes if they hold delimiters,
/// line ends or, doubled, quotes; lines end in LF, CRLF or CR; a byte order mark and empty lines are passed
/// over. A quote within an unquoted cell is a character. With the delimiter ' ', any number of blanks and
/// tabs is one, and those around a row are none. Cells are bytes as they are stored, usually UTF-8.
class CsvReader {
 public:
  /// `delimiter` 0: the first of , ; tab and blank that cuts the first rows into equally many cells, two at
  /// least. Throws Error naming the file if it cannot be read or is UTF-16.
  explicit CsvReader(const std::filesystem::path& file, char delimiter = '\0');

  const std::filesystem::path& file() const { return file_; }
  char delimiter() const { return delimiter_; }

  /// The next row; false at the end. Rows may differ in their numbers of cells. Throws Error naming file and
  /// line: a quote that is not closed, or text behind a closing one.
  bool next(CsvRow& row);

  /// Goes to a row that was read before (line and offset): it will be the next one.
  void seek(const CsvRow& row);

  /// "file:17", for messages.
  std::string at(const CsvRow& row) const;

 private:
  int peek();  // the next byte, or -1
  int take();
  void go_to(std::uint64_t offset);
  std::string quoted_cell(const CsvRow& row);
  char find_delimiter();

  std::filesystem::path file_;
  std::ifstream in_;
  char delimiter_;
  std::string buffer_;       // bytes of the file from buffer_start_ on
  std::size_t at_ = 0;       // in buffer_
  std::uint64_t start_ = 0;  // of buffer_, in the file
  std::uint64_t line_ = 1;
};

/// The text as a cell of a CSV that is written: in double quotes where it holds a comma, quotes or an end of
/// line.
std::string csv_cell(const std::string& text);

/// Texts as the cells of a line, without its end.
std::string csv_line(std::span<const std::string> cells);

/// The cell without blanks around it.
std::string trimmed(const std::string& cell);

}  // namespace convoke
