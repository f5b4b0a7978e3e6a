#include "convoke/metrics/event_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/protobuf.hpp"
#include "convoke/core/tfrecord.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/process.hpp"

namespace convoke::metrics {
namespace {

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
