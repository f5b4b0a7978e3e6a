#include "convoke/data_prep/traces/request_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/data_prep/files/number.hpp"
#include "convoke/data_prep/sources/csv_catalog.hpp"
#include "sources/labels.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

// In the order of Columns.
constexpr std::array<std::string_view, 5> kRequestColumns{"time", "operation", "offset", "size", "file"};
enum Columns : std::size_t { kTime, kOperation, kOffset, kSize, kFile };

// The largest offset or size that a double holds exactly.
constexpr double kMostBytes = 9007199254740992.0;

/// Reads the rows of a file.
class RequestReader {
 public:
  RequestReader(const fs::path& file, const ColumnOptions& columns, bool labels)
      : reading_(examine_csv(file, {})), reader_(reading_.rows()), header_(reading_.header) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const auto found = find_column(header_, {}, std::span(kRequestColumns).subspan(c, 1), file);
      if (!found) {
        throw Error(fmt::format("{}: has no column \"{}\"", file.string(), kRequestColumns[c]),
                    "a CSV of requests has the columns time, operation, offset, size and file");
      }
      columns_[c] = *found;
    }
    if (labels) label_ = find_roles(reading_, columns).label;
    group_ = find_column(header_, columns.group, {}, file);
  }

  std::vector<Trace> read() {
    std::vector<Trace> traces;
    std::map<std::pair<std::string, std::string>, std::size_t> numbers;  // of traces
    while (reader_.next(row_)) {
      if (row_.cells.size() != header_.names.size()) {
        fail(fmt::format("has {} cells, but the first row has {}", row_.cells.size(), header_.names.size()));
      }
      std::pair key{label_ ? trimmed(row_.cells[*label_]) : "", group_ ? trimmed(row_.cells[*group_]) : ""};
      if (label_ && is_missing_label(key.first)) fail("has no label");
      const auto [trace, added] = numbers.try_emplace(key, traces.size());
      if (added) traces.push_back({.requests = {}, .label = key.first, .group = key.second});
      traces[trace->second].requests.push_back(request());
    }
    for (Trace& trace : traces) sort_by_time(trace.requests);
    return traces;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(fmt::format("{}: {}", reader_.at(row_), reason));
  }

  const std::string& cell(Columns column) const { return row_.cells[columns_[column]]; }

  Request request() {
    const std::string operation = trimmed(cell(kOperation));
    if (operation != "read" && operation != "write") {
      fail(fmt::format("the operation is \"{}\", not read or write", operation));
    }
    const auto [file, added] =
        files_.try_emplace(trimmed(cell(kFile)), static_cast<std::int32_t>(files_.size()));
    if (file->first.empty()) fail("has no file");
    return {.time = number(kTime), .offset = bytes(kOffset), .size = bytes(kSize), .file = file->second};
  }

  double number(Columns column) const {
    const std::optional<double> number = number_in(cell(column));
    if (!number || !std::isfinite(*number)) {
      fail(fmt::format("column \"{}\": \"{}\" is not a number", kRequestColumns[column], cell(column)));
    }
    return *number;
  }

  std::int64_t bytes(Columns column) const {
    const double count = number(column);
    if (count < 0 || count != std::floor(count) || count > kMostBytes) {
      fail(fmt::format("column \"{}\": \"{}\" is not a number of bytes", kRequestColumns[column],
                       cell(column)));
    }
    return static_cast<std::int64_t>(count);
  }

  CsvReading reading_;
  CsvReader reader_;
  const CsvHeader& header_;
  std::array<std::size_t, kRequestColumns.size()> columns_{};
  std::optional<std::size_t> label_, group_;
  std::unordered_map<std::string, std::int32_t> files_;  // and their numbers
  CsvRow row_;
};

}  // namespace

bool is_request_csv(const fs::path& file) {
  const std::optional<CsvReading> reading = csv_beginning(file);
  return reading && std::all_of(kRequestColumns.begin(), kRequestColumns.end(), [&](std::string_view name) {
           return find_column(reading->header, {}, std::span(&name, 1), file).has_value();
         });
}

std::vector<Trace> read_request_csv(const fs::path& file, const ColumnOptions& columns, bool labels) {
  return RequestReader(file, columns, labels).read();
}

}  // namespace convoke::data_prep
