#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace convoke {

/// A row of a CSV, and its position.
struct CsvRow {
  std::vector<std::string> cells = {};
  std::uint64_t line = 0;    ///< line of its first cell, from 1 on
  std::uint64_t offset = 0;  ///< bytes before it in the file
};

/// Reads a CSV row by row (RFC 4180). Cells are between delimiters; a cell that holds delimiters, line ends
/// or doubled quotes is in double quotes. Lines end in LF, CRLF or CR. Skips a byte order mark and empty
/// lines. A quote within an unquoted cell is an ordinary character. With the delimiter ' ', several blanks
/// and tabs are one delimiter, and those around a row are ignored. Cells are bytes as stored, usually UTF-8.
class CsvReader {
 public:
  /// `delimiter` 0: the first of , ; tab and blank that cuts the first rows into equally many cells, at least
  /// two. Throws Error naming the file if it cannot be read or is UTF-16.
  explicit CsvReader(const std::filesystem::path& file, char delimiter = '\0');

  const std::filesystem::path& file() const { return file_; }
  char delimiter() const { return delimiter_; }

  /// Reads the next row; false at the end. Rows may have different numbers of cells. Throws Error naming file
  /// and line if a quote is not closed, or if text follows a closing quote.
  bool next(CsvRow& row);

  /// Makes a row that was read before (line and offset) the next row.
  void seek(const CsvRow& row);

  /// Returns "file:17", for messages.
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

}  // namespace convoke
