#include "convoke/data_prep/traces/darshan.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <span>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/data_prep/files/number.hpp"
#include "darshan_counters.hpp"
#include "files/lines.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

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
    Integer value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || word.empty())
      fail(fmt::format("the {} is \"{}\", not a whole number", what, word));
    return value;
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

}  // namespace convoke::data_prep
