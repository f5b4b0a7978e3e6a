#include "convoke/core/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke {
namespace {

constexpr std::size_t kBufferBytes = 1U << 16;
constexpr int kEnd = -1;

bool ends_line(int c) { return c == '\n' || c == '\r' || c == kEnd; }
bool is_blank(int c) { return c == ' ' || c == '\t'; }

}  // namespace

CsvReader::CsvReader(const std::filesystem::path& file, char delimiter) : file_(file), delimiter_(delimiter) {
  if (std::filesystem::is_directory(file)) throw Error(fmt::format("{}: is a folder", file.string()));
  errno = 0;
  in_.open(file, std::ios::binary);
  if (!in_) {
    throw Error(
        fmt::format("{}: cannot be opened: {}", file.string(), std::generic_category().message(errno)));
  }
  peek();
  if (buffer_.starts_with("\xFF\xFE") || buffer_.starts_with("\xFE\xFF")) {
    throw Error(fmt::format("{}: is UTF-16", file.string()), "store it as UTF-8");
  }
  if (buffer_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  if (delimiter_ == '\0') delimiter_ = find_delimiter();
}

int CsvReader::peek() {
  if (at_ == buffer_.size()) {
    start_ += buffer_.size();
    at_ = 0;
    buffer_.resize(kBufferBytes);
    in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.resize(static_cast<std::size_t>(in_.gcount()));
    if (in_.bad()) throw Error(fmt::format("{}: cannot be read from byte {} on", file_.string(), start_));
    if (buffer_.empty()) return kEnd;
  }
  return static_cast<unsigned char>(buffer_[at_]);
}

int CsvReader::take() {
  const int c = peek();
  if (c != kEnd) ++at_;
  if (c == '\n' || (c == '\r' && peek() != '\n')) ++line_;
  return c;
}

void CsvReader::go_to(std::uint64_t offset) {
  if (offset >= start_ && offset <= start_ + buffer_.size()) {
    at_ = static_cast<std::size_t>(offset - start_);
    return;
  }
  in_.clear();
  in_.seekg(static_cast<std::streamoff>(offset));
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
  std::string cell;
  take();
  for (;;) {
    const int c = take();
    if (c == kEnd) {
      throw Error(fmt::format("{}:{}: has a quote that is not closed", file_.string(), line),
                  "write a quote within a quoted cell twice");
    }
    if (c == '"') {
      if (peek() != '"') break;
      take();
    }
    cell += static_cast<char>(c);
  }
  while (delimiter_ != '\t' && is_blank(peek())) take();
  const bool blank_follows = delimiter_ == ' ';  // and is already consumed
  if (!ends_line(peek()) && peek() != delimiter_ && !blank_follows) {
    throw Error(fmt::format("{}: has text after the closing quote of cell {}", at(row), row.cells.size() + 1),
                "write a quote within a quoted cell twice");
  }
  return cell;
}

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
    if (peek() == '"') {
      row.cells.push_back(quoted_cell(row));
    } else {
      std::string cell;
      while (!ends_line(peek()) && peek() != delimiter_ && !(blanks && is_blank(peek()))) {
        cell += static_cast<char>(take());
      }
      row.cells.push_back(std::move(cell));
    }
    pass_blanks();
    if (ends_line(peek())) break;
    if (!blanks) take();  // the delimiter
  }
  if (take() == '\r' && peek() == '\n') take();
  return true;
}

char CsvReader::find_delimiter() {
  constexpr std::size_t kRows = 10;
  const std::uint64_t begin = start_ + at_;
  char found = ',';
  std::size_t most = 1;  // cells of the first row
  for (const char candidate : {',', ';', '\t', ' '}) {
    delimiter_ = candidate;
    std::vector<std::size_t> cells;
    try {
      CsvRow row;
      while (cells.size() < kRows && next(row)) cells.push_back(row.cells.size());
    } catch (const Error&) {  // this delimiter breaks its quotes
      cells.clear();
    }
    go_to(begin);
    line_ = 1;
    if (cells.empty() || cells.front() < 2) continue;
    if (std::all_of(cells.begin(), cells.end(), [&](std::size_t n) { return n == cells.front(); })) {
      return candidate;
    }
    if (cells.front() > most) {
      most = cells.front();
      found = candidate;
    }
  }
  return found;
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

std::string trimmed(const std::string& cell) {
  constexpr const char* kBlanks = " \t\r\n";
  const std::size_t first = cell.find_first_not_of(kBlanks);
  return first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace convoke
