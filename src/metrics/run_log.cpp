#include "convoke/metrics/run_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/protobuf.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/process.hpp"

namespace convoke::metrics {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, int error) {
  const std::string hint = error == ENOSPC || error == EDQUOT
                               ? "free some space, or write to another --output"
                               : "choose a folder that you may write to with --output";
  throw Error("cannot write " + file.string() + ": " + std::strerror(error), hint);
}

// Cuts off an unfinished last line, which a killed run or a full disk leaves. Returns the file.
const std::filesystem::path& without_unfinished_line(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return file;
  const std::string text = read_text(file).value_or("");
  const std::size_t end = text.rfind('\n') + 1;  // npos + 1 is 0
  if (end == text.size()) return file;
  std::filesystem::resize_file(file, end, error);
  if (error) fail(file, error.value());
  return file;
}

// The columns of a CsvLog are keys of records.
constexpr std::array<std::string_view, 11> kColumns{"event",
                                                    "member",
                                                    "epoch",
                                                    "step",
                                                    "loss",
                                                    "accuracy",
                                                    "validation_loss",
                                                    "validation_accuracy",
                                                    "learning_rate",
                                                    "images_per_second",
                                                    "seconds"};

std::string header() { return fmt::format("{}", fmt::join(kColumns, ",")); }

// Text unchanged, numbers as in JSON.
std::string cell(const Value* value) { return value == nullptr ? "" : value->plain_text(); }

// Returns the whole numbers of a line of a CsvLog; the header has none.
Settings counts_of(const std::string& line) {
  Settings counts;
  std::istringstream in(line);
  std::string text;
  for (const std::string_view column : kColumns) {
    if (!std::getline(in, text, ',')) break;
    if (const auto count = parse_number<std::int64_t>(text)) counts.set(std::string(column), *count);
  }
  return counts;
}

// Removes lines; the file is replaced atomically if there are any.
void remove_lines(GrowingFile& file, const std::function<bool(const std::string&)>& unwanted) {
  const std::filesystem::path path = file.file();
  std::istringstream in(read_text(path).value_or(""));
  std::string kept;
  bool removed = false;
  for (std::string line; std::getline(in, line);) {
    if (unwanted(line)) {
      removed = true;
    } else {
      kept += line + '\n';
    }
  }
  if (!removed) return;
  os::replace_text(path, kept);
  file = GrowingFile(path);
}

// Fields of the messages, from event.proto and summary.proto.
enum EventField : std::uint32_t { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7 };
enum SummaryField : std::uint32_t { kValue = 1 };
enum ValueField : std::uint32_t { kTag = 1, kSimpleValue = 2 };
enum SessionLogField : std::uint32_t { kStatus = 1 };
constexpr std::uint64_t kStatusStart = 1;

using protobuf::field;

// The fields of all events; proto3 does not write zeros.
std::string event(double wall_time, std::int64_t step, const std::string& what) {
  return field(kWallTime, wall_time) +
         (step == 0 ? std::string() : field(kStep, static_cast<std::uint64_t>(step))) + what;
}

constexpr std::string_view kBegin = "events.out.tfevents.";

// The second of the last file by name; 0 if there is none.
std::int64_t last_seconds(const std::filesystem::path& folder) {
  std::int64_t last = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kBegin)) continue;
    std::int64_t seconds = 0;
    std::from_chars(name.data() + kBegin.size(), name.data() + name.size(), seconds);
    last = std::max(last, seconds);
  }
  return last;
}

// TensorBoard reads the files of a folder in the order of their names: a later one has a later second.
std::filesystem::path new_file(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw Error(fmt::format("cannot create {}: {}", folder.string(), failed.message()),
                "choose a folder that you may write to with --output");
  }
  const std::int64_t seconds =
      std::max(static_cast<std::int64_t>(os::seconds_since_1970()), last_seconds(folder) + 1);
  return folder / fmt::format("{}{:010}.{}.{}", kBegin, seconds, os::host_name(), os::process_number());
}

}  // namespace

GrowingFile::GrowingFile(std::filesystem::path file) : file_(std::move(file)) {
  stream_.reset(std::fopen(file_.c_str(), "ab"));
  if (stream_ == nullptr) fail(file_, errno);
}

void GrowingFile::append(std::string_view bytes) {
  if (stream_ == nullptr) stream_.reset(std::fopen(file_.c_str(), "ab"));
  if (stream_ == nullptr) fail(file_, errno);
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(file_, unknown);
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), stream_.get()) == bytes.size();
  if (written && std::fflush(stream_.get()) == 0) return;
  const int error = errno;
  stream_.reset();  // the stream keeps what it could not write, and would write it twice
  if (!unknown) std::filesystem::resize_file(file_, size, unknown);
  fail(file_, error);
}

RunLog::RunLog(const std::filesystem::path& file) : file_(without_unfinished_line(file)) {}

void RunLog::append(const Settings& record) { file_.append(to_json(record) + '\n'); }

void RunLog::remove_if(const std::function<bool(const Settings&)>& unwanted) {
  const std::string name = file_.file().string();
  remove_lines(file_, [&](const std::string& line) { return unwanted(settings_from_json(line, name)); });
}

CsvLog::CsvLog(const std::filesystem::path& file) : file_(without_unfinished_line(file)) {
  std::error_code unknown;
  if (const auto size = std::filesystem::file_size(file, unknown); unknown || size == 0) {
    file_.append(header() + "\n");
    return;
  }
  std::ifstream in(file, std::ios::binary);
  std::string first;
  std::getline(in, first);
  if (first == header()) return;
  throw Error(file.string() + ": its columns are not " + header(),
              "another version of Convoke wrote it; move it away");
}

void CsvLog::append(const Settings& record) {
  if (record.find("loss") == nullptr && record.find("validation_loss") == nullptr) return;
  std::string line;
  for (std::size_t c = 0; c < kColumns.size(); ++c) {
    line += (c == 0 ? "" : ",") + cell(record.find(kColumns[c]));
  }
  file_.append(line + "\n");
}

void CsvLog::remove_if(const std::function<bool(const Settings&)>& unwanted) {
  remove_lines(file_, [&](const std::string& line) { return unwanted(counts_of(line)); });
}

std::string version_event(double wall_time) {
  return event(wall_time, 0, field(kFileVersion, std::string("brain.Event:2")));
}

std::string start_event(double wall_time, std::int64_t step) {
  return event(wall_time, step, field(kSessionLog, field(kStatus, kStatusStart)));
}

std::string scalars_event(double wall_time, std::int64_t step, std::span<const Scalar> scalars) {
  std::string summary;
  for (const Scalar& scalar : scalars) {
    summary += field(kValue, field(kTag, scalar.tag) + field(kSimpleValue, static_cast<float>(scalar.value)));
  }
  return event(wall_time, step, field(kSummary, summary));
}

EventFile::EventFile(const std::filesystem::path& folder, std::optional<std::int64_t> resumed_at)
    : file_(new_file(folder)) {
  file_.append(tfrecord(version_event(os::seconds_since_1970())));
  if (resumed_at) file_.append(tfrecord(start_event(os::seconds_since_1970(), *resumed_at + 1)));
}

void EventFile::append(std::int64_t step, std::span<const Scalar> scalars) {
  file_.append(tfrecord(scalars_event(os::seconds_since_1970(), step, scalars)));
}

}  // namespace convoke::metrics
