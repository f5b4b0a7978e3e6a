#include "convoke/data_prep/traces/trace_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/numbers.hpp"
#include "convoke/data_prep/sources/csv_catalog.hpp"
#include "files/lines.hpp"
#include "sources/labels.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

/// A bin of Darshan's histogram of sizes: from `least` to `most` bytes.
struct SizeBin {
  const char* name;
  std::int64_t least, most;
};
constexpr std::int64_t kKi = 1024, kMi = kKi * kKi, kGi = kKi * kMi;
constexpr std::array kSizeBins{
    SizeBin{"0_100", 0, 100},
    SizeBin{"100_1K", 101, kKi},
    SizeBin{"1K_10K", kKi + 1, 10 * kKi},
    SizeBin{"10K_100K", 10 * kKi + 1, 100 * kKi},
    SizeBin{"100K_1M", 100 * kKi + 1, kMi},
    SizeBin{"1M_4M", kMi + 1, 4 * kMi},
    SizeBin{"4M_10M", 4 * kMi + 1, 10 * kMi},
    SizeBin{"10M_100M", 10 * kMi + 1, 100 * kMi},
    SizeBin{"100M_1G", 100 * kMi + 1, kGi},
    SizeBin{"1G_PLUS", kGi + 1, kGi + 1},
};

constexpr int kCommon = 4;  // most common sizes and strides of a record

/// Adds up the counters that darshan-parser prints for each file and rank (module POSIX).
class DarshanCounters {
 public:
  /// Takes the value of a counter, such as POSIX_READS, of a file and rank.
  void add(const std::string& rank, const std::string& file, const std::string& counter, std::int64_t value) {
    Record& record = records_[rank + " " + file];
    record.file = file;
    record.counters[counter] = value;
  }

  /// Returns the features of the job; none if it has neither read nor written.
  std::optional<IoFeatures> features() const {
    IoFeatures features{.smallest = INT64_MAX};
    std::set<std::string> files;
    std::int64_t requests = 0, neighbors = 0;
    for (const auto& [key, record] : records_) {
      if (record.requests() == 0) continue;
      files.insert(record.file);
      requests += record.requests();
      neighbors += record.requests() - 1;
      features.mean +=
          static_cast<double>(record.get("POSIX_BYTES_READ") + record.get("POSIX_BYTES_WRITTEN"));
      for (int i = 1; i <= kCommon; ++i) {
        features.distance += static_cast<double>(record.get(fmt::format("POSIX_STRIDE{}_STRIDE", i))) *
                             static_cast<double>(record.get(fmt::format("POSIX_STRIDE{}_COUNT", i)));
      }
      add_sizes(record, features);
    }
    if (requests == 0) return {};
    features.mean /= static_cast<double>(requests);
    features.distance /= static_cast<double>(std::max<std::int64_t>(1, neighbors));
    features.files = static_cast<std::int64_t>(files.size());
    return features;
  }

 private:
  /// The counters of a file and rank.
  struct Record {
    std::string file;
    std::map<std::string, std::int64_t> counters;

    std::int64_t get(const std::string& name) const {
      const auto found = counters.find(name);
      return found == counters.end() ? 0 : std::max<std::int64_t>(0, found->second);  // -1: unknown
    }
    std::int64_t requests() const { return get("POSIX_READS") + get("POSIX_WRITES"); }
  };

  // A bin whose requests all have one of the most common sizes is known exactly.
  static void add_sizes(const Record& record, IoFeatures& features) {
    for (const SizeBin& bin : kSizeBins) {
      std::int64_t unknown = record.get(fmt::format("POSIX_SIZE_READ_{}", bin.name)) +
                             record.get(fmt::format("POSIX_SIZE_WRITE_{}", bin.name));
      if (unknown == 0) continue;
      for (int i = 1; i <= kCommon; ++i) {
        const std::int64_t size = record.get(fmt::format("POSIX_ACCESS{}_ACCESS", i));
        const std::int64_t count = record.get(fmt::format("POSIX_ACCESS{}_COUNT", i));
        const bool last = &bin == &kSizeBins.back();
        if (count == 0 || size < bin.least || (!last && size > bin.most)) continue;
        unknown -= count;
        features.smallest = std::min(features.smallest, size);
        features.largest = std::max(features.largest, size);
      }
      if (unknown <= 0) continue;
      features.smallest = std::min(features.smallest, bin.least);
      features.largest = std::max(features.largest, bin.most);
    }
  }

  std::map<std::string, Record> records_;  // by rank and file
};

constexpr std::string_view kFirstLine = "# darshan log version:";
constexpr std::string_view kFileLine = "# DXT, file_id: ", kCountsLine = "# DXT, write_count: ";

/// Reads a dump line by line.
class DumpReader {
 public:
  explicit DumpReader(const fs::path& file) : file_(file), lines_(file) {}

  DarshanDump read() {
    for (std::string line; lines_.next(line);) {
      ++line_;
      if (line.starts_with(kFileLine)) {
        begin_file(line);
      } else if (line.starts_with(kCountsLine)) {
        announced_ = announced(line);
      } else if (!line.empty() && line[0] != '#') {
        take(line);
      }
    }
    expect_all_requests();
    sort_by_time(dump_.requests);
    dump_.counters = counters_.features();
    return std::move(dump_);
  }

 private:
  [[noreturn]] void fail(const std::string& reason, const std::string& hint = {}) const {
    throw Error(fmt::format("{}:{}: {}", file_.string(), line_, reason), hint);
  }

  template <class Integer>
  Integer integer(std::string_view word, const char* what) const {
    const std::optional<Integer> value = parse_number<Integer>(word);
    if (!value) fail(fmt::format("the {} is \"{}\", not a whole number", what, word));
    return *value;
  }

  // "# DXT, file_id: 14388265063268455899, file_name: /tmp/x"
  void begin_file(std::string_view line) {
    expect_all_requests();
    const std::string_view id =
        line.substr(kFileLine.size(), line.find(',', kFileLine.size()) - kFileLine.size());
    const auto number = integer<std::uint64_t>(id, "file_id");
    current_ = ids_.try_emplace(number, static_cast<std::int32_t>(ids_.size())).first->second;
    in_file_ = true;
  }

  // "# DXT, write_count: 16, read_count: 4" announces 20 requests.
  std::int64_t announced(std::string_view line) const {
    constexpr std::string_view kReads = ", read_count: ";
    const std::size_t comma = line.find(kReads);
    if (comma == std::string_view::npos) fail("has no read_count");
    return integer<std::int64_t>(line.substr(kCountsLine.size(), comma - kCountsLine.size()), "write_count") +
           integer<std::int64_t>(line.substr(comma + kReads.size()), "read_count");
  }

  void take(const std::string& line) {
    std::istringstream words(line);
    std::string module;
    words >> module;
    if (module == "X_POSIX") return take_request(words);
    if (module.starts_with("X_")) {  // MPI-IO: its requests become POSIX requests
      --announced_;
      return;
    }
    if (module == "POSIX") return take_counter(words);
    if (line.find('\t') == std::string::npos) fail("is not a line of darshan-parser or darshan-dxt-parser");
  }

  // " X_POSIX       0  write        0               0            4096      0.0014      0.0015   N/A"
  void take_request(std::istringstream& words) {
    std::string rank, operation, segment, offset, length, start;
    if (!(words >> rank >> operation >> segment >> offset >> length >> start))
      fail("has fewer columns than module, rank, operation, segment, offset, length and start",
           "is the dump truncated? make it again with darshan-dxt-parser");
    if (operation != "read" && operation != "write")
      fail(fmt::format("the operation is \"{}\", not read or write", operation));
    if (!in_file_) fail("comes before a line that names its file");
    const std::optional<double> time = number_in(start);
    if (!time || !std::isfinite(*time)) fail(fmt::format("the start is \"{}\", not a time", start));
    const Request request{.time = *time,
                          .offset = integer<std::int64_t>(offset, "offset"),
                          .size = integer<std::int64_t>(length, "length"),
                          .file = current_};
    if (request.offset < 0 || request.size < 0) fail("has a negative offset or length");
    dump_.requests.push_back(request);
    --announced_;
  }

  // "POSIX	0	6301063301082038805	POSIX_READS	513	/data/x	/	ext4"
  void take_counter(std::istringstream& words) {
    std::string rank, file, counter, value;
    if (!(words >> rank >> file >> counter >> value))
      fail("has fewer columns than module, rank, record id, counter and value",
           "is the dump truncated? make it again with darshan-parser");
    if (counter.starts_with("POSIX_F_")) return;  // times
    counters_.add(rank, file, counter, integer<std::int64_t>(value, "value"));
  }

  void expect_all_requests() const {
    if (announced_ > 0)
      fail(fmt::format("{} requests of the file above are missing", announced_),
           "is the dump truncated? make it again with darshan-dxt-parser");
  }

  fs::path file_;
  Lines lines_;
  std::uint64_t line_ = 0;
  std::unordered_map<std::uint64_t, std::int32_t> ids_;  // Darshan's file ids, and their numbers
  std::int32_t current_ = 0;                             // number of the file that the lines belong to
  bool in_file_ = false;
  std::int64_t announced_ = 0;  // requests of the file that are still to come
  DarshanDump dump_;
  DarshanCounters counters_;
};

}  // namespace

bool is_darshan_dump(const fs::path& file) {
  if (!fs::is_regular_file(file)) return false;
  std::string begin(kFirstLine.size(), '\0');
  try {
    const std::size_t got = archive::open_plain(file)->read_some(0, std::as_writable_bytes(std::span(begin)));
    return got == begin.size() && begin == kFirstLine;
  } catch (const Error&) {  // unreadable
    return false;
  }
}

DarshanDump read_darshan_dump(const fs::path& file) { return DumpReader(file).read(); }

namespace {

// In the order of Columns.
constexpr std::array<std::string_view, 5> kRequestColumns{"time", "operation", "offset", "size", "file"};
enum Columns : std::size_t { kTime, kOperation, kOffset, kSize, kFile };

// The largest offset or size that a double holds exactly.
constexpr double kMostBytes = 9007199254740992.0;

/// Reads the rows of a file.
class RequestReader {
 public:
  RequestReader(const fs::path& file, const SourceOptions& options, bool labels)
      : reading_(examine_csv(file, options.reading)), reader_(reading_.rows()), header_(reading_.header) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const auto found = find_column(header_, {}, std::span(kRequestColumns).subspan(c, 1), file);
      if (!found) {
        throw Error(fmt::format("{}: has no column \"{}\"", file.string(), kRequestColumns[c]),
                    "a CSV of requests has the columns time, operation, offset, size and file");
      }
      columns_[c] = *found;
    }
    if (labels) label_ = find_roles(reading_, options.columns).label;
    group_ = find_column(header_, options.columns.group, {}, file);
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

bool is_request_csv(const fs::path& file, const ReadingOptions& options) {
  const std::optional<CsvReading> reading = csv_beginning(file, options);
  return reading && std::all_of(kRequestColumns.begin(), kRequestColumns.end(), [&](std::string_view name) {
           return find_column(reading->header, {}, std::span(&name, 1), file).has_value();
         });
}

std::vector<Trace> read_request_csv(const fs::path& file, const SourceOptions& options, bool labels) {
  return RequestReader(file, options, labels).read();
}

}  // namespace convoke::data_prep
