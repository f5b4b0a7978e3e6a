#include "convoke/core/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke {
namespace {

constexpr std::size_t kBufferBytes = 1U << 16;
constexpr int kEnd = -1;

bool ends_line(int c) { return c == '\n' || c == '\r' || c == kEnd; }
bool is_blank(int c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// True for "1,5", "-1.043,25" and "2,5e+04": one comma, between digits.
bool has_decimal_comma(const std::string& cell) {
  const std::size_t comma = cell.find(',');
  if (comma == std::string::npos || comma == 0 || comma + 1 == cell.size()) return false;
  return is_digit(cell[comma - 1]) && is_digit(cell[comma + 1]) && cell.find(',', comma + 1) == cell.npos &&
         std::all_of(cell.begin(), cell.end(), [](char c) {
           return is_digit(c) || std::string_view(",.' +-eE%").find(c) != std::string_view::npos;
         });
}

}  // namespace

CsvReader::CsvReader(const std::filesystem::path& file, const CsvFormat& format)
    : file_(file), delimiter_(format.delimiter), quoting_(format.quoting), encoding_(format.encoding) {
  if (std::filesystem::is_directory(file)) throw Error(fmt::format("{}: is a folder", file.string()));
  if (os::special_kind(file).empty()) {
    in_ = os::File(file, os::Access::kRead);
  } else {
    std::ifstream pipe(file, std::ios::binary);  // it cannot go back, so all of it is held
    buffer_.assign(std::istreambuf_iterator<char>(pipe), {});
  }
  peek();
  if (const ByteOrderMark mark = byte_order_mark(buffer_); mark.bytes > 0) {
    encoding_ = mark.encoding;
    at_ = mark.bytes;
  }
  const bool utf16 = encoding_ == TextEncoding::kUtf16le || encoding_ == TextEncoding::kUtf16be;
  unit_bytes_ = utf16 ? 2 : 1;
  while (line_ <= format.skipped_lines && take() != kEnd) {
  }
  if (delimiter_ == '\0') delimiter_ = find_delimiter();
  quoting_ = format.quoting;
}

int CsvReader::peek() {
  if (at_ + unit_bytes_ > buffer_.size()) {
    if (!in_) return kEnd;
    start_ += buffer_.size();
    at_ = 0;
    buffer_.resize(kBufferBytes);
    buffer_.resize(in_.read_some_at(start_, std::as_writable_bytes(std::span(buffer_))));
    if (buffer_.size() < unit_bytes_) return kEnd;
  }
  const int first = static_cast<unsigned char>(buffer_[at_]);
  if (unit_bytes_ == 1) return first;
  const int second = static_cast<unsigned char>(buffer_[at_ + 1]);
  return encoding_ == TextEncoding::kUtf16le ? second << 8 | first : first << 8 | second;
}

int CsvReader::take() {
  const int c = peek();
  if (c != kEnd) at_ += unit_bytes_;
  if (c == '\n' || (c == '\r' && peek() != '\n')) ++line_;
  return c;
}

void CsvReader::put(std::string& cell, int unit) const {
  if (unit_bytes_ == 1) {
    cell += static_cast<char>(unit);
    return;
  }
  const char high = static_cast<char>(unit >> 8), low = static_cast<char>(unit & 0xFF);
  cell += encoding_ == TextEncoding::kUtf16le ? low : high;
  cell += encoding_ == TextEncoding::kUtf16le ? high : low;
}

void CsvReader::go_to(std::uint64_t offset) {
  if (offset >= start_ && offset <= start_ + buffer_.size()) {
    at_ = static_cast<std::size_t>(offset - start_);
    return;
  }
  buffer_.clear();
  at_ = 0;
  start_ = offset;
}

void CsvReader::seek(const CsvRow& row) {
  go_to(row.offset);
  line_ = row.line;
}

std::string CsvReader::at(const CsvRow& row) const { return fmt::format("{}:{}", file_.string(), row.line); }

// Reads the text between the quotes; the opening quote is the next byte.
std::string CsvReader::quoted_cell(const CsvRow& row) {
  const std::uint64_t line = line_;
  const auto refuse = [&](const std::string& why) {
    throw Error(
        fmt::format("{}:{}: cell {} begins with a quote {}", file_.string(), line, row.cells.size() + 1, why),
        "write a quote within a quoted cell twice; or read the file with --quoting none if its quotes "
        "are text");
  };
  std::string cell;
  take();
  for (;;) {
    const int c = take();
    if (c == kEnd) refuse("that is not closed");
    if (c == '"') {
      if (peek() != '"') break;
      take();
    }
    put(cell, c);
  }
  const std::uint64_t end = line_;
  bool blank_follows = false;  // and is already consumed
  for (; delimiter_ != '\t' && is_blank(peek()); take()) blank_follows = delimiter_ == ' ';
  if (!ends_line(peek()) && peek() != delimiter_ && !blank_follows) {
    refuse(end == line ? "and has text after the closing one"
                       : fmt::format("and has text after the closing one in line {}", end));
  }
  return cell;
}

std::string CsvReader::plain_cell() {
  const bool blanks = delimiter_ == ' ';
  std::string cell;
  while (!ends_line(peek()) && peek() != delimiter_ && !(blanks && is_blank(peek()))) put(cell, take());
  return cell;
}

namespace {

// Returns the cell without a pair of quotes around it, if all quotes between them are doubled.
std::string without_quotes(const std::string& cell) {
  if (cell.size() < 2 || cell.front() != '"' || cell.back() != '"') return cell;
  std::string inner;
  for (std::size_t i = 1; i + 1 < cell.size(); ++i) {
    if (cell[i] == '"' && (++i + 1 >= cell.size() || cell[i] != '"')) return cell;
    inner += cell[i];
  }
  return inner;
}

}  // namespace

bool CsvReader::next(CsvRow& row) {
  row.cells.clear();
  const bool blanks = delimiter_ == ' ';
  const auto pass_blanks = [&] {
    while (blanks && is_blank(peek())) take();
  };
  for (;;) {  // skips empty lines
    pass_blanks();
    if (peek() == kEnd) return false;
    if (!ends_line(peek())) break;
    take();
  }
  row.line = line_;
  row.offset = start_ + at_;
  for (;;) {
    std::string cell = quoting_ == Quoting::kCsv && peek() == '"' ? quoted_cell(row) : plain_cell();
    cell = to_utf8(cell, encoding_);
    if (quoting_ == Quoting::kWholeCells) cell = without_quotes(cell);
    row.cells.push_back(std::move(cell));
    pass_blanks();
    if (ends_line(peek())) break;
    if (!blanks) take();  // the delimiter
  }
  if (take() == '\r' && peek() == '\n') take();
  return true;
}

char CsvReader::find_delimiter() {
  constexpr std::size_t kRows = 10;
  const std::uint64_t begin = start_ + at_, line = line_;
  const Quoting given = quoting_;
  char found = ',';
  std::size_t most = 1;  // cells of the first row
  bool commas = false;   // cut the rows into equally many cells
  const Quoting of_tabs = given == Quoting::kCsv ? Quoting::kWholeCells : given;
  for (const auto& [candidate, quoting] : {std::pair{',', given},
                                           {';', given},
                                           {'\t', of_tabs},
                                           {'\t', given},
                                           {'|', given},
                                           {' ', given},
                                           {':', given}}) {
    if (commas && candidate == ' ') return ',';
    delimiter_ = candidate;
    quoting_ = quoting;
    std::vector<std::size_t> cells;
    bool decimal_commas = false;
    try {
      CsvRow row;
      while (cells.size() < kRows && next(row)) {
        cells.push_back(row.cells.size());
        decimal_commas = decimal_commas || std::any_of(row.cells.begin(), row.cells.end(), has_decimal_comma);
      }
    } catch (const Error&) {  // this delimiter breaks its quotes
      cells.clear();
    }
    go_to(begin);
    line_ = line;
    if (cells.empty() || cells.front() < 2) continue;
    // A header may lack the name of the rows, or rows end with a separator.
    const bool shorter = candidate == '\t' && cells.front() + 1 == cells.back();
    const bool equal = std::all_of(cells.begin() + (shorter ? 1 : 0), cells.end(), [&](std::size_t n) {
      return n == (shorter ? cells.back() : cells.front());
    });
    if (equal && candidate == ',') {
      commas = true;
    } else if (equal && (!commas || decimal_commas)) {
      return candidate;
    }
    // Texts have blanks, too: at least half of the other rows must have as many cells as the header, or one
    // more, as the header may lack the rows' names.
    if (candidate == ' ') {
      const auto like_header = std::count_if(cells.begin() + 1, cells.end(), [&](std::size_t n) {
        return n == cells.front() || n == cells.front() + 1;
      });
      if (2 * like_header < std::ssize(cells) - 1) continue;
    }
    if (cells.front() > most) {
      most = cells.front();
      found = candidate;
    }
  }
  return commas ? ',' : found;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + "\"";
}

std::string csv_line(std::span<const std::string> cells) {
  std::vector<std::string> quoted;
  for (const std::string& cell : cells) quoted.push_back(csv_cell(cell));
  return join(quoted, ",");
}

std::string lower_case(std::string cell) {
  for (char& c : cell) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return cell;
}

std::string trimmed(const std::string& cell) {
  constexpr const char* kBlanks = " \t\r\n";
  const std::size_t first = cell.find_first_not_of(kBlanks);
  return first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace convoke
